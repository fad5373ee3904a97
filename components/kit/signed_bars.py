"""Horizontal bars of numbers with a sign: products of a sum, neurons, heads. No tokens here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.arrays import Array
from components.kit.figure import frame, packed
from components.kit.text import plotly as escape


def signed_bars(
    names: Sequence[str],
    values: Sequence[float] | Array,
    *,
    title: str,
    key: str,
    texts: Sequence[str] | None = None,
    selected: int | None = None,
    hover: Sequence[float] | Array | None = None,
    hover_name: str = "",
    room: float = 0.25,
) -> go.Figure:
    """Return bars, the first on top: blue to the right for more, red to the left for less.

    Args:
        names: one per bar, plain text.
        values: one per bar.
        title: what is seen.
        key: the chart's key.
        texts: what stands at each bar's end; by default its value.
        selected: the number of the chosen bar, framed.
        hover: one more number per bar for the hover text.
        hover_name: what that number is.
        room: space for the texts, as a share of the longest bar.
    """
    numbers = packed(values)
    texts = [f"{value:.2f}" for value in numbers] if texts is None else texts
    edges = [theme.PICKED if i == selected else "rgba(0,0,0,0)" for i in range(len(numbers))]
    figure = frame(title, height=72 + 26 * len(numbers), revision=key, bargap=0.25)
    figure.add_trace(
        go.Bar(
            x=numbers,
            y=list(range(len(numbers))),
            orientation="h",
            marker={
                "color": [theme.POSITIVE if v >= 0 else theme.NEGATIVE for v in numbers],
                "line": {"color": edges, "width": 3},
            },
            customdata=None if hover is None else packed(hover),
            text=[escape(text) for text in texts],
            textposition="outside",
            textfont={"size": 13, "color": theme.TEXT},
            cliponaxis=False,
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            hoverinfo="skip" if hover is None else None,
            hovertemplate=None
            if hover is None
            else f"%{{y}}<br>{escape(hover_name)} %{{customdata:.3f}}<extra></extra>",
        )
    )
    _axes(figure, names, numbers, room)
    return figure


def _axes(figure: go.Figure, names: Sequence[str], numbers: Array, room: float) -> None:
    """Name the bars, and leave room for the texts at their ends."""
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(numbers))),
        ticktext=[escape(name) for name in names],
        range=[len(numbers) - 0.5, -0.5],
        fixedrange=True,
    )
    span = float(np.abs(numbers).max(initial=0.0)) or 1.0
    low, high = float(numbers.min(initial=0.0)), float(numbers.max(initial=0.0))
    left = low - room * span if low < 0 else 0.0
    figure.update_xaxes(range=[left, high + room * span], fixedrange=True, zeroline=True)
