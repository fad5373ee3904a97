"""One vector as a strip of coloured cells, folded into rows: an embedding, a residual stream."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.arrays import Array
from components.kit.figure import frame, frame_box, packed
from components.kit.text import plotly as escape


def fold(width: int, columns: int | None = None) -> tuple[int, int]:
    """Return (rows, columns) that hold `width` numbers: without a rest if there is such a fold."""
    if columns is None:
        wide = [c for c in range(24, 129) if width % c == 0 and 2 <= width // c <= 16]
        columns = min(wide, key=lambda c: abs(c / (width / c) - 10), default=min(width, 64))
    columns = max(1, min(columns, width))
    return math.ceil(width / columns), columns


def robust_limit(values: Array) -> float:
    """Return the size that 99 of 100 numbers stay within, so that one outlier hides no others."""
    sizes = np.abs(values[np.isfinite(values)])
    limit = float(np.quantile(sizes, 0.99)) if sizes.size else 0.0
    return limit or float(sizes.max(initial=0.0)) or 1.0


def strip(
    values: Array,
    *,
    title: str,
    key: str,
    limit: float | None = None,
    columns: int | None = None,
    selected: int | None = None,
    value_name: str = "value",
    height: int | None = None,
) -> go.Figure:
    """Return one vector, read like text: left to right, then the next row.

    Args:
        values: [D].
        title: what is seen.
        key: the chart's key.
        limit: the size at which colour is strongest; larger numbers look the same. By default 99
            of 100 numbers stay within. Give one limit to strips that are compared.
        columns: numbers per row; by default a number that divides them evenly.
        selected: the chosen dimension, framed.
        value_name: what a number is, in the hover text.
        height: in pixels.
    """
    numbers = packed(values)
    width = len(numbers)
    rows, cols = fold(width, columns)
    limit = robust_limit(numbers) if limit is None else limit
    grid = np.full(rows * cols, np.nan, dtype=np.float32)
    grid[:width] = numbers
    figure = frame(title, height=height or 74 + 20 * rows, revision=key)
    figure.add_trace(
        go.Heatmap(
            z=grid.reshape(rows, cols),
            zmin=-limit,
            zmax=limit,
            colorscale=theme.colorscale(theme.DIVERGING),
            colorbar=_bar(limit, bool(np.abs(numbers).max(initial=0.0) > limit)),
            hoverinfo="skip",
            xgap=1,
            ygap=2,
        )
    )
    figure.add_trace(_clickable(numbers, cols, value_name))
    figure.update_xaxes(visible=False, range=[-0.5, cols - 0.5], fixedrange=True)
    figure.update_yaxes(_row_axis(rows, cols), fixedrange=True)
    if selected is not None:
        frame_box(figure, *divmod(selected, cols))
    return figure


def _bar(limit: float, clipped: bool) -> dict[str, Any]:
    end = f"{limit:.2g}"
    texts = [f"≤ −{end}", "0", f"≥ {end}"] if clipped else [f"−{end}", "0", end]
    return {
        "thickness": 10,
        "len": 1,
        "outlinewidth": 0,
        "xpad": 6,
        "tickvals": [-limit, 0, limit],
        "ticktext": texts,
    }


def _clickable(numbers: Array, cols: int, value_name: str) -> go.Scatter:
    index = np.arange(len(numbers))
    return go.Scatter(
        x=(index % cols).astype(np.uint8),
        y=(index // cols).astype(np.uint8 if len(numbers) // cols < 256 else np.uint16),
        customdata=np.stack([index, numbers], axis=1).astype(np.float32),
        mode="markers",
        marker={"symbol": "square", "size": 8, "opacity": 0, "maxdisplayed": 1},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        hovertemplate=(
            f"dimension %{{customdata[0]:d}}<br>{escape(value_name)} "
            "%{customdata[1]:.4f}<extra></extra>"
        ),
    )


def _row_axis(rows: int, cols: int) -> dict[str, Any]:
    every = max(1, math.ceil(rows / 10))
    return {
        "tickmode": "array",
        "tickvals": list(range(0, rows, every)),
        "ticktext": [str(row * cols) for row in range(0, rows, every)],
        "range": [rows - 0.5, -0.5],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }
