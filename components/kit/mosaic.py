"""All heads of all layers in one picture: small patterns side by side. A click gives a head."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.arrays import Array
from components.kit.clicks import chosen_index
from components.kit.figure import frame, frame_box
from components.kit.heatmap import STEPS, stepped, steps

SIDE = 32
"""The most rows of one head's small pattern."""


def downsampled(pattern: Array, side: int = SIDE) -> Array:
    """Return patterns with at most `side` rows and columns, each the strongest of its block.

    The maximum and not the mean, so that a thin stripe (a head that looks one token back) stays.

    Args:
        pattern: [..., T, S].
        side: the most rows and columns to return.
    """
    size = pattern.shape[-1]
    if size <= side:
        return pattern
    starts = (np.arange(side) * size) // side
    return np.maximum.reduceat(np.maximum.reduceat(pattern, starts, axis=-1), starts, axis=-2)


def mosaic(
    values: Array,
    *,
    title: str,
    key: str,
    high: float = 0.6,
    selected: tuple[int, int] | None = None,
    across: str = "heads",
    height: int | None = None,
) -> go.Figure:
    """Return one heatmap of all heads: a row of tiles a layer if `across` is `heads`.

    Args:
        values: [L, H, s, s] in 0…`high`, small (see `downsampled`).
        title: what is seen.
        key: the chart's key.
        high: the value of the scale's strong end; what lies above looks the same.
        selected: the chosen (layer, head), framed.
        across: `heads`, or `layers` for a wide picture with a row of tiles a head.
        height: in pixels; by default from the number of tiles.
    """
    layers, heads = values.shape[:2]
    tiles = values if across == "heads" else values.swapaxes(0, 1)
    rows, cols, step = tiles.shape[0], tiles.shape[1], tiles.shape[2] + 1
    height = height or int(np.clip(rows * (26 if across == "heads" else 34) + 90, 300, 760))
    figure = frame(title, height=height, revision=key, hoverdistance=-1)
    figure.add_trace(
        go.Heatmap(
            z=_picture(tiles, high),
            zmin=0,
            zmax=STEPS,
            colorscale=stepped(theme.colorscale(theme.SEQUENTIAL)),
            showscale=False,
            hoverinfo="skip",
        )
    )
    figure.add_trace(_centres(layers, heads, step, across))
    names = ("head", "layer") if across == "heads" else ("layer", "head")
    figure.update_xaxes(_tile_axis(cols, step), title=names[0], side="top")
    figure.update_yaxes(_tile_axis(rows, step), title=names[1])
    figure.update_yaxes(range=[rows * step - 0.5, -1.5])
    figure.update_layout(margin={"t": 84})
    if selected is not None:
        row, col = selected if across == "heads" else selected[::-1]
        middle = (step - 2) / 2
        frame_box(figure, row * step + middle, col * step + middle, size=step)
    return figure


def selected_head(event: Any, layers: int, heads: int) -> tuple[int, int] | None:
    """Return the (layer, head) that was clicked, or None."""
    number = chosen_index(event, layers * heads, curve=1)
    return None if number is None else divmod(number, heads)


def _picture(tiles: Array, high: float) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Lay tiles [rows, cols, s, s] side by side, one empty line apart, one byte a cell.

    What lies above the diagonal stays empty: the causal mask leaves nothing to see there.
    """
    rows, cols, side = tiles.shape[:3]
    masked = np.where(np.tri(side, dtype=bool), tiles, np.nan)
    padded = np.pad(steps(masked, 0.0, high), ((0, 0), (0, 0), (0, 1), (0, 1)))
    return padded.swapaxes(1, 2).reshape(rows * (side + 1), cols * (side + 1))


def _centres(layers: int, heads: int, step: int, across: str) -> go.Scatter:
    layer, head = (grid.ravel() for grid in np.mgrid[:layers, :heads])
    row, col = (layer, head) if across == "heads" else (head, layer)
    return go.Scatter(
        x=(col * step + (step - 2) / 2).astype(np.float32),
        y=(row * step + (step - 2) / 2).astype(np.float32),
        customdata=np.stack([layer, head], axis=1).astype(np.uint8),
        mode="markers",
        marker={"symbol": "square", "size": 14, "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        hovertemplate="layer %{customdata[0]}, head %{customdata[1]}<extra></extra>",
    )


def _tile_axis(count: int, step: int) -> dict[str, Any]:
    shown = range(0, count, 1 if count <= 16 else 2)
    return {
        "tickmode": "array",
        "tickvals": [index * step + (step - 2) / 2 for index in shown],
        "ticktext": [str(index) for index in shown],
        "tickangle": 0,
        "range": [-1.5, count * step - 0.5],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }
