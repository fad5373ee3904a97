"""Runs as lanes on one clock, with a mark at the moment at which each token was there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.figure import frame, packed
from components.kit.text import plotly as escape


def lanes(
    names: Sequence[str],
    times: Sequence[Sequence[float]],
    labels: Sequence[Sequence[str]],
    *,
    title: str,
    key: str,
) -> go.Figure:
    """Return one lane a run, with a mark at the moment at which each of its tokens was there.

    Args:
        names: of the lanes, from top to bottom.
        times: for each lane the milliseconds, from the start, of each mark.
        labels: for each lane what each mark is, plain text.
        title: what is seen.
        key: the chart's key.
    """
    figure = frame(title, height=90 + 62 * len(names), revision=key)
    for row, (name, moments, words) in enumerate(zip(names, times, labels, strict=True)):
        seconds = packed(moments) / np.float32(1000)
        colour = theme.CATEGORICAL[row % len(theme.CATEGORICAL)]
        figure.add_trace(
            go.Scatter(
                x=np.concatenate([packed([0.0]), seconds]),
                y=[row] * (len(seconds) + 1),
                mode="lines+markers",
                marker={"size": [0, *[11] * len(seconds)], "symbol": "line-ns-open", "opacity": 1},
                line={"color": colour, "width": 3},
                hovertext=["", *[escape(word) for word in words]],
                hovertemplate="%{hovertext}<br>%{x:.2f} s<extra></extra>",
                name=escape(name),
            )
        )
    figure.update_xaxes(title="seconds", rangemode="tozero")
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[escape(name) for name in names],
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    return figure
