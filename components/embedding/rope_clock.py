"""Rotations as clocks: for a few pairs of dimensions, how far each position has turned them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.arrays import Array
from components.kit.figure import frame
from components.kit.text import plotly as escape

_SPACING = 2.6
_CIRCLE = np.linspace(0, 2 * np.pi, 49)


def clock(
    angles: Array,
    *,
    title: str,
    key: str,
    position_names: Sequence[str],
    pair_names: Sequence[str],
    columns: int = 8,
    height: int | None = None,
) -> go.Figure:
    """Return one clock a pair with one hand a position.

    Angle 0 points right and angles grow against the clock's sense, as in mathematics.

    Args:
        angles: [positions, pairs] in radians.
        title: what is seen.
        key: the chart's key.
        position_names: one a hand, plain; escaped here.
        pair_names: one a clock, plain; escaped here.
        columns: clocks side by side.
        height: in pixels.
    """
    angles = np.asarray(angles, dtype=np.float64)
    positions, pairs = angles.shape
    if (positions, pairs) != (len(position_names), len(pair_names)):
        raise ValueError(
            f"{positions} × {pairs} angles under {len(position_names)} × {len(pair_names)} names."
        )
    columns = max(1, min(columns, pairs))
    rows = math.ceil(pairs / columns)
    index = np.arange(pairs)
    centres = np.stack([index % columns * _SPACING, -(index // columns) * (_SPACING + 0.5)], axis=1)
    figure = frame(title, height=height or 100 + 150 * rows, revision=key)
    figure.add_trace(_dials(centres))
    for number, name in enumerate(position_names):
        figure.add_trace(_hands(centres, angles[number], name, number, pair_names))
    for (x, y), name in zip(centres, pair_names, strict=True):
        figure.add_annotation(
            x=x, y=y - 1.3, text=escape(name, limit=20), showarrow=False, font={"size": 13}
        )
    figure.update_xaxes(visible=False, range=[-1.3, (columns - 1) * _SPACING + 1.3])
    figure.update_yaxes(visible=False, range=[-(rows - 1) * (_SPACING + 0.5) - 1.7, 1.2])
    figure.update_yaxes(scaleanchor="x", scaleratio=1)
    figure.update_layout(
        showlegend=positions > 1,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin={"t": 64},
    )
    return figure


def _dials(centres: Array) -> go.Scatter:
    """All circles as one line with gaps."""
    turn = np.append(np.exp(1j * _CIRCLE), np.nan + 1j * np.nan)
    points = (centres[:, :1] + 1j * centres[:, 1:] + turn[None, :]).ravel()
    return go.Scatter(
        x=points.real.astype(np.float32),
        y=points.imag.astype(np.float32),
        mode="lines",
        line={"color": theme.with_alpha(theme.NEUTRAL, 0.6), "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )


def _hands(
    centres: Array, angles: Array, name: str, number: int, pair_names: Sequence[str]
) -> go.Scatter:
    """One position's hands over all clocks as one line with gaps."""
    start = centres[:, 0] + 1j * centres[:, 1]
    points = np.stack([start, start + 0.92 * np.exp(1j * angles), np.full(len(start), np.nan)], 1)
    colour = theme.CATEGORICAL[number % len(theme.CATEGORICAL)]
    degrees = np.degrees(angles) % 360
    hover = [
        f"{escape(name)}<br>{escape(pair)}: {angle:.2f} rad = {degree:.0f}° after whole turns"
        for pair, angle, degree in zip(pair_names, angles, degrees, strict=True)
    ]
    return go.Scatter(
        x=points.real.ravel().astype(np.float32),
        y=points.imag.ravel().astype(np.float32),
        mode="lines+markers",
        line={"color": colour, "width": 3},
        marker={"color": colour, "size": [0, 9, 0] * len(start), "opacity": 1},
        name=escape(name, limit=24),
        text=[text for pair in hover for text in (pair, pair, "")],
        hovertemplate="%{text}<extra></extra>",
    )
