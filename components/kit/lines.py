"""Lines over the layers: norms of the residual stream, shares, ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.arrays import Array
from components.kit.clicks import chosen_index
from components.kit.figure import frame, packed
from components.kit.text import plotly as escape

_DASHES = ("solid", "dash", "dot", "dashdot")


def lines(
    series: Mapping[str, Sequence[float] | Array],
    *,
    colours: Sequence[str] = theme.CATEGORICAL,
    title: str,
    key: str,
    x_title: str = "layer",
    y_title: str = "",
    log: bool = False,
    positions: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
    selected: int | None = None,
    number_format: str = ".3~g",
    height: int = 340,
) -> go.Figure:
    """Return one line a series.

    Args:
        series: numbers by name; all of one length. On a log axis numbers up to 0 leave a gap.
        colours: one a series; those with a meaning come from the theme by name.
        title: what is seen.
        key: the chart's key.
        x_title: what the points are.
        y_title: what the numbers are.
        log: whether the numbers stand on a log axis.
        positions: where the points stand; by default 0, 1, 2, …
        labels: one per point, escaped, in place of its number.
        selected: the number of the chosen point, marked by a line.
        number_format: of a number in the hover text, as d3 writes it.
        height: in pixels.
    """
    counts = {len(values) for values in series.values()}
    if len(counts) != 1:
        raise ValueError(f"All series need the same length, not {sorted(counts)}.")
    x = list(range(counts.pop())) if positions is None else list(positions)
    figure = frame(title, height=height, revision=key)
    for number, (name, values) in enumerate(series.items()):
        look = colours[number % len(colours)], _DASHES[number % len(_DASHES)]
        figure.add_trace(_line(x, packed(values), name, look, x_title, number_format, log))
    figure.update_layout(
        showlegend=len(series) > 1,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin={"t": 64},
    )
    figure.update_xaxes(title=escape(x_title), showgrid=False, zeroline=False)
    if labels is not None:
        figure.update_xaxes(tickmode="array", tickvals=x, ticktext=list(labels))
    figure.update_yaxes(title=escape(y_title), type="log" if log else "linear")
    if log:
        figure.update_yaxes(dtick=1, minor={"showgrid": False}, exponentformat="power")
    if selected is not None and 0 <= selected < len(x):
        figure.add_vline(x=x[selected], line={"color": theme.PICKED, "width": 2, "dash": "dot"})
    return figure


def selected_point(event: Any, count: int) -> int | None:
    """Return the number of the clicked point (of any line), or None."""
    return chosen_index(event, count)


def _line(
    x: list[float] | list[int],
    values: Array,
    name: str,
    look: tuple[str, str],
    x_title: str,
    number_format: str,
    log: bool,
) -> go.Scatter:
    colour, dash = look
    return go.Scatter(
        x=x,
        y=np.where(values > 0, values, np.nan) if log else values,
        name=escape(name, limit=30),
        mode="lines+markers",
        line={"color": colour, "width": 2.5, "dash": dash},
        marker={"color": colour, "size": 7},
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        hovertemplate=(
            f"{escape(name, limit=30)}<br>{escape(x_title)} %{{x}}<br>"
            f"%{{y:{number_format}}}<extra></extra>"
        ),
    )
