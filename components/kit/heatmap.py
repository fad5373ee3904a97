"""Matrices as coloured cells: attention patterns, scores, RoPE angles. A click gives (row, column).

Plotly never reports a click on a heatmap, so an invisible scatter lies over the cells and takes
hover and click.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.arrays import Array
from components.kit.clicks import chosen_index
from components.kit.figure import frame, frame_box, packed, token_axis
from components.kit.text import plotly as escape

PRECISE = 16_384
"""Up to this many cells go as float32 with their value on hover; more go in 99 steps."""

STEPS = 100
"""The strongest step. Not 255: base64 turns such bytes into slashes, which Plotly then escapes
with six characters each."""


def heatmap(
    values: Array,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    *,
    title: str,
    key: str,
    low: float,
    high: float,
    row_name: str = "query",
    col_name: str = "key",
    value_name: str = "weight",
    number_format: str = ".3f",
    selected: tuple[int, int] | None = None,
    height: int | None = None,
    texts: Sequence[Sequence[str]] | None = None,
) -> go.Figure:
    """Return a figure of one matrix, first row on top.

    Args:
        values: [rows, columns]; NaN where there is no cell (such as after the causal mask).
        row_labels: one per row, already escaped (`figure.token_labels`). Equal labels don't merge.
        col_labels: one per column, likewise.
        title: what is seen, computed from the values.
        key: the chart's key; while it stays, the zoom stays.
        low: the value of the scale's weak end. Below 0 the scale diverges around 0.
        high: the value of the strong end. Values outside are drawn as the nearest end.
        row_name: what a row is, in the hover text.
        col_name: what a column is.
        value_name: what a value is.
        number_format: of a value in the hover text, as d3 writes it.
        selected: the chosen (row, column), framed.
        height: in pixels; by default from the number of rows.
        texts: what stands in the cells, [rows][columns], plain; at most `PRECISE` cells.
    """
    values = packed(values)
    _check(values, row_labels, col_labels, low, high)
    rows = len(values)
    height = height or int(np.clip(120 + 26 * rows, 260, 620))
    figure = frame(title, height=height, revision=key)
    figure.add_trace(_cells(values, low, high))
    if texts is not None:
        # Part of the trace: as annotations of their own, sixty numbers take the browser 0.2 s.
        written = [[escape(text) for text in row] for row in texts]
        font = {"size": 13, "color": theme.TEXT}
        figure.data[0].update(text=written, texttemplate="%{text}", textfont=font)
    hover = f"{escape(row_name)} %{{y}}<br>{escape(col_name)} %{{x}}<br>{escape(value_name)} "
    figure.add_trace(_clickable(values, hover, number_format))
    figure.update_xaxes(token_axis(col_labels), side="bottom", tickangle=-40, ticks="")
    figure.update_yaxes(token_axis(row_labels), range=[rows - 0.5, -0.5], ticks="")
    # A click counts up to half a cell away from the middle of a cell.
    figure.update_layout(hoverdistance=max(20, int(0.6 * (height - 100) / max(rows, 1))))
    if selected is not None:
        frame_box(figure, selected[0], selected[1])
    return figure


def _check(
    values: Array, row_labels: Sequence[str], col_labels: Sequence[str], low: float, high: float
) -> None:
    if values.shape != (len(row_labels), len(col_labels)):
        raise ValueError(
            f"Values of shape {values.shape} under {len(row_labels)} × {len(col_labels)} labels."
        )
    if not low < high:
        raise ValueError(f"The scale needs low < high, not {low} and {high}.")


def clickable_cells(values: Array) -> Array:
    """Return the (row, column) of all cells that can be clicked, [N, 2], in the overlay's order."""
    return np.argwhere(np.isfinite(values))


def selected_cell(event: Any, values: Array) -> tuple[int, int] | None:
    """Return the (row, column) that was clicked, or None.

    Args:
        event: of `chart(..., on_select=…)`.
        values: the matrix that was drawn, to know which cells there are.
    """
    cells = clickable_cells(values)
    number = chosen_index(event, len(cells), curve=1)
    return None if number is None else (int(cells[number, 0]), int(cells[number, 1]))


def _cells(values: Array, low: float, high: float) -> go.Heatmap:
    scale = theme.colorscale(theme.DIVERGING if low < 0 else theme.SEQUENTIAL)
    bar = {"thickness": 10, "len": 0.9, "outlinewidth": 0, "xpad": 6}
    if values.size <= PRECISE:
        return go.Heatmap(
            z=values,
            zmin=low,
            zmax=high,
            colorscale=scale,
            colorbar=bar,
            hoverinfo="skip",
            **_gap(values),
        )
    ticks = np.linspace(low, high, 5)
    return go.Heatmap(
        z=steps(values, low, high),
        zmin=0,
        zmax=STEPS,
        colorscale=stepped(scale),
        colorbar={
            **bar,
            "tickvals": np.linspace(1, STEPS, 5).tolist(),
            "ticktext": [f"{tick:.3g}" for tick in ticks],
        },
        hoverinfo="skip",
    )


def steps(values: Array, low: float, high: float) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return values as one byte each: 1…`STEPS` from `low` to `high`, 0 where there is no value."""
    share = (np.clip(values, low, high) - low) / (high - low)
    return np.where(np.isfinite(values), 1 + np.rint((STEPS - 1) * np.nan_to_num(share)), 0).astype(
        np.uint8
    )


def stepped(scale: list[list[float | str]]) -> list[list[float | str]]:
    """Return the scale for `steps`: nothing at 0, the given scale from 1 on."""
    edge = 0.5 / STEPS
    nothing = "rgba(0,0,0,0)"
    start = 1 / STEPS
    lifted: list[list[float | str]] = [
        [start + float(at) * (1 - start), colour] for at, colour in scale
    ]
    return [[0.0, nothing], [edge, nothing], [edge, scale[0][1]], *lifted]


def _gap(values: Array) -> dict[str, int]:
    """Leave a thin gap between the cells as long as they are large."""
    return {"xgap": 1, "ygap": 1} if max(values.shape) <= 48 else {}


def _clickable(values: Array, hover: str, number_format: str) -> go.Scatter:
    cells = clickable_cells(values)
    small = np.uint8 if max(values.shape) <= 256 else np.uint16
    precise = values.size <= PRECISE
    value = f"%{{customdata:{number_format}}}" if precise else "on click"
    return go.Scatter(
        x=cells[:, 1].astype(small),
        y=cells[:, 0].astype(small),
        customdata=values[cells[:, 0], cells[:, 1]] if precise else None,
        mode="markers",
        # One drawn marker is enough: hover and click look at all points, drawn or not.
        marker={"symbol": "square", "size": 12, "opacity": 0, "maxdisplayed": 1},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        hovertemplate=f"{hover}{value}<extra></extra>",
    )
