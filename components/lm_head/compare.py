"""Two prompts side by side: the likeliest tokens on one scale, and how their ranks move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import streamlit as st

from components.kit import layout, theme
from components.kit.bars import bars
from components.kit.figure import frame
from components.kit.show import chart
from components.kit.text import plotly as escape
from components.kit.text import visible

if TYPE_CHECKING:
    from engine.basics.distribution import TopTokens


def side_by_side(
    prompts: Sequence[str], tops: Sequence[TopTokens], bytes_of: Callable[[int], bytes]
) -> None:
    """Draw the likeliest tokens of two prompts on the same scale."""
    high = max(float(top.probabilities[0]) for top in tops)
    columns = layout.side_by_side(1, 1)
    for number, (column, text, top) in enumerate(zip(columns, prompts, tops, strict=True)):
        ids = [int(i) for i in top.ids]
        title = f"After “{visible(text, limit=30)}”"
        with column:
            chart(
                bars(
                    ids,
                    [bytes_of(i) for i in ids],
                    top.probabilities,
                    title=title,
                    key=f"prompt_{number}",
                    high=high,
                ),
                key=f"prompt_{number}",
                alt=f"Likeliest tokens, {title}",
            )


def rank_arrows(
    moves: Sequence[tuple[int, int, int]], name_of: Callable[[int], str], shown: int
) -> go.Figure:
    """Return how tokens move from their rank after the first prompt to that after the second.

    Args:
        moves: token, first rank, second rank; 1 is the likeliest.
        name_of: gives a token's visible text.
        shown: ranks drawn; what lies below stands at the bottom with its number.
    """
    figure = frame(
        "Ranks, from the first prompt to the second", height=60 + 27 * (shown + 2), revision="ranks"
    )
    for token_id, first, second in moves:
        rise = second < first
        colour = theme.POSITIVE if rise else theme.NEGATIVE if second > first else theme.NEUTRAL
        ends = [min(first, shown + 1), min(second, shown + 1)]
        name = escape(name_of(token_id), limit=16)
        arrow = "▲" if rise else "▼" if second > first else "="
        figure.add_trace(
            go.Scatter(
                x=[0, 1],
                y=ends,
                mode="lines+markers+text",
                line={"color": colour, "width": 2},
                marker={"size": 7},
                text=[
                    f"{name} {first:,}" if ends[0] <= shown else "",
                    f"{arrow} {second:,} {name}" if ends[1] <= shown else "",
                ],
                textposition=["middle left", "middle right"],
                textfont={"size": 12, "color": theme.TEXT},
                cliponaxis=False,
                hovertemplate=f"{name}: {first:,} → {second:,}<extra></extra>",
            )
        )
    figure.update_xaxes(visible=False, range=[-0.6, 1.6])
    figure.update_yaxes(visible=False, range=[shown + 1.6, 0.4])
    figure.add_annotation(
        x=0.5,
        y=shown + 1.3,
        text=f"below rank {shown}",
        showarrow=False,
        font={"size": 12, "color": theme.NEUTRAL},
    )
    return figure


def divergence_words(forward: float, backward: float, entropies: Sequence[float]) -> None:
    """Say how far the two distributions lie apart."""
    st.markdown(
        f"Entropy **{entropies[0]:.2f}** and **{entropies[1]:.2f} bits**. Who expects the first "
        f"and gets the second wastes KL(second‖first) = **{backward:.2f} bits** a token; the other "
        f"way round KL(first‖second) = **{forward:.2f} bits**. 0 would mean the same distribution, "
        "and the two directions need not agree."
    )
