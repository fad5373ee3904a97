"""Figures of all scores at once: their histogram, and how much the likeliest tokens hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.figure import frame, packed, share_format
from components.kit.numbers import percent
from components.kit.text import plotly as escape

if TYPE_CHECKING:
    from engine.basics.distribution import Histogram

Array = np.ndarray[Any, Any]


def logit_histogram(
    counts: Histogram, marks: Sequence[tuple[str, float]], *, title: str, key: str
) -> go.Figure:
    """Return how many tokens have which logit, with some tokens marked.

    Args:
        counts: of the whole vocabulary.
        marks: name and logit of the tokens to mark; plain text, escaped here.
        title: what is seen.
        key: the chart's key.
    """
    figure = frame(title, height=340, revision=key, bargap=0.04)
    middles = (counts.edges[:-1] + counts.edges[1:]) / 2
    figure.add_trace(
        go.Bar(
            x=packed(middles),
            y=np.where(counts.counts > 0, counts.counts, np.nan).astype(np.float32),
            marker={"color": theme.ACCENT},
            hovertemplate="logit around %{x:.1f}<br>%{y:,} tokens<extra></extra>",
        )
    )
    for number, (name, logit) in enumerate(marks):
        figure.add_vline(
            x=logit,
            line={"color": theme.PICKED, "width": 2, "dash": "dot"},
            annotation={
                "text": escape(name, limit=20),
                "font": {"color": theme.PICKED, "size": 13},
                "y": 1.0 - 0.12 * number,
                "yanchor": "top",
            },
            annotation_position="top left",
        )
    figure.update_yaxes(type="log", title="tokens", dtick=1, exponentformat="power")
    figure.update_xaxes(title="logit", zeroline=False, showgrid=False)
    return figure


def mass_curve(
    mass: Array, *, title: str, key: str, marks: Sequence[tuple[int, float]] = ()
) -> go.Figure:
    """Return the share that the 1, 2, 3, … likeliest tokens hold, on a log axis of ranks.

    Args:
        mass: `[V]`, climbing to 1.
        title: what is seen.
        key: the chart's key.
        marks: (rank, share) to mark, such as where 90 % are reached.
    """
    # Beyond the first hundred ranks a point each would be too many: an even spread on the log axis.
    ranks = np.unique(np.geomspace(1, len(mass), 240).round().astype(np.int64))
    figure = frame(title, height=340, revision=key)
    figure.add_trace(
        go.Scatter(
            x=ranks,
            y=packed(mass[ranks - 1]),
            mode="lines",
            line={"color": theme.ACCENT, "width": 3},
            hovertemplate="the %{x:,} likeliest tokens hold "
            f"%{{y:{share_format(2)}}}<extra></extra>",
        )
    )
    for rank, share in marks:
        figure.add_trace(
            go.Scatter(
                x=[rank],
                y=[share],
                mode="markers+text",
                text=[escape(f"{percent(share)} in {rank:,}")],
                textposition="bottom right",
                textfont={"size": 13, "color": theme.TEXT},
                marker={"color": theme.PICKED, "size": 10},
                hoverinfo="skip",
            )
        )
    figure.update_xaxes(type="log", title="tokens, likeliest first", dtick=1, showgrid=False)
    figure.update_xaxes(range=[-0.05, float(np.log10(len(mass))) + 0.3], tickformat=",d")
    figure.update_yaxes(range=[0, 1.05], tickformat=share_format(), title="share of all")
    return figure
