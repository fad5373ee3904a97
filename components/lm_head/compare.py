"""Two prompts side by side: the likeliest tokens on one scale, and what becomes of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import streamlit as st

from components.kit import layout, theme
from components.kit.bars import bars
from components.kit.figure import frame
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import plotly as escape
from components.kit.text import visible

if TYPE_CHECKING:
    from engine.basics.distribution import TopTokens


FORWARDS, BACKWARDS = "The capital of France is", "Paris is the capital of"
OTHER = "He poured himself a glass of"


def second_prompt(first: str) -> str:
    """Return what stands beside a prompt at first: a fact turned round, or another drink."""
    return {FORWARDS: BACKWARDS, BACKWARDS: FORWARDS}.get(first, OTHER)


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


def shift_figure(
    shifts: Sequence[tuple[int, float, float]], name_of: Callable[[int], str]
) -> go.Figure:
    """Return how probable each token is after either prompt: two dots on one line per token.

    Args:
        shifts: token, probability after the first and after the second prompt.
        name_of: gives a token's visible text.
    """
    rows = sorted(shifts, key=lambda row: row[1] / max(row[2], 1e-30), reverse=True)
    farthest = max(rows, key=lambda row: max(row[1], row[2]) * abs(_log(row[1]) - _log(row[2])))
    title = (
        f"{name_of(farthest[0])} goes from {percent(farthest[1])} to {percent(farthest[2])}: "
        "the same head, another vector"
    )
    figure = frame(title, height=110 + 24 * len(rows), revision="shifts")
    for place, (token_id, first, second) in enumerate(rows):
        colour = theme.POSITIVE if second > first else theme.NEGATIVE
        hover = f"{escape(name_of(token_id), limit=20)}: {percent(first)} → {percent(second)}"
        figure.add_trace(
            go.Scatter(
                x=[_log(first), _log(second)],
                y=[place, place],
                mode="lines",
                line={"color": theme.with_alpha(colour, 0.6), "width": 3},
                hoverinfo="skip",
                showlegend=False,
            )
        )
        figure.add_trace(_dots(place, first, hover, legend=place == 0))
        figure.add_trace(_dots(place, second, hover, legend=place == 0, second=True))
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.12, "yanchor": "top"})
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(rows))),
        ticktext=[escape(name_of(token_id), limit=16) for token_id, _, _ in rows],
        tickfont={"family": "monospace", "size": 13},
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    low = min(_log(value) for row in rows for value in row[1:])
    ticks = list(range(math.floor(low), 1))
    figure.update_xaxes(
        tickvals=ticks,
        ticktext=[f"{10.0 ** (tick + 2):g} %" for tick in ticks],
        tickmode="array",
        range=[low - 0.3, 0.15],
        zeroline=False,
        title="probability (each step: ten times as much)",
    )
    return figure


LEAST = 1e-7
"""What lies below is drawn there; the hover text has the true value."""


def _log(share: float) -> float:
    return math.log10(max(share, LEAST))


def _dots(
    place: int, share: float, hover: str, *, legend: bool, second: bool = False
) -> go.Scatter:
    """Return one dot: hollow after the first prompt, full after the second."""
    colour = theme.ACCENT if second else theme.NEUTRAL
    return go.Scatter(
        x=[_log(share)],
        y=[place],
        mode="markers",
        name="after the second prompt" if second else "after the first prompt",
        marker={
            "size": 12 if second else 11,
            "color": colour,
            "symbol": "circle" if second else "circle-open",
            "line": {"width": 2, "color": colour},
        },
        hovertext=[hover],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=legend,
    )


def divergence_words(forward: float, backward: float, entropies: Sequence[float]) -> None:
    """Say how far the two distributions lie apart."""
    st.markdown(
        "**How different are they?** Somebody who expects the first list and meets the second is "
        f"surprised by **{backward:.2f} bits** more than needed at each token (called KL "
        f"divergence); the other way round by **{forward:.2f} bits**. 0 would mean: the same "
        "list; over 5: another list altogether. The two directions need not agree."
    )
    st.caption(
        f"How open each list is: {entropies[0]:.2f} bits after the first prompt (as open as "
        f"{2 ** entropies[0]:,.1f} equally likely tokens), {entropies[1]:.2f} after the second "
        f"({2 ** entropies[1]:,.1f})."
    )
