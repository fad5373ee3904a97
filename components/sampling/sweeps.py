"""Settings swept from end to end: temperature for one prompt, top-p for two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.arrays import Array
from components.kit.figure import frame, packed, share_format
from components.kit.text import plotly as escape

if TYPE_CHECKING:
    from engine.sampling.experiments import TemperatureSweep

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def temperature_figure(
    sweep: TemperatureSweep, names: Sequence[str], *, title: str, key: str, at: float
) -> go.Figure:
    """Return the probabilities of the likeliest tokens, and the entropy, over the temperature.

    Args:
        sweep: of one prompt.
        names: the tokens, visible; escaped here.
        title: what is seen.
        key: the chart's key.
        at: the temperature that is set, marked.
    """
    figure = frame(title, height=380, revision=key)
    for number, name in enumerate(names):
        figure.add_trace(_token_line(sweep, number, escape(name, limit=20)))
    figure.add_trace(_entropy_line(sweep))
    figure.add_vline(x=at, line={"color": theme.PICKED, "width": 2, "dash": "dot"})
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": -0.22, "yanchor": "top"},
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "range": [0, 16.32],
            "dtick": 4,
        },
    )
    figure.update_layout(yaxis={"range": [0, 1.02], "tickformat": share_format()})
    figure.update_xaxes(title="temperature", showgrid=False, range=[0, 3.02], dtick=0.5)
    return figure


def _token_line(sweep: TemperatureSweep, number: int, label: str) -> go.Scatter:
    return go.Scatter(
        x=sweep.temperatures,
        y=packed(sweep.probabilities[:, number]),
        name=label,
        mode="lines",
        line={
            "color": theme.CATEGORICAL[number % len(theme.CATEGORICAL)],
            "width": 3,
            "dash": _DASHES[number % len(_DASHES)],
        },
        hovertemplate=f"{label} at T = %{{x:.2f}}: %{{y:{share_format(1)}}}<extra></extra>",
    )


def _entropy_line(sweep: TemperatureSweep) -> go.Scatter:
    return go.Scatter(
        x=sweep.temperatures,
        y=packed(sweep.entropy_bits),
        name="entropy (bits, right)",
        mode="lines",
        yaxis="y2",
        line={"color": theme.NEUTRAL, "width": 2},
        hovertemplate="entropy at T = %{x:.2f}: %{y:.2f} bits<extra></extra>",
    )


def nucleus_figure(
    masses: Sequence[float], sizes: Sequence[tuple[str, Array]], *, k: int, title: str, key: str
) -> go.Figure:
    """Return how many tokens top-p keeps over p, a line per prompt, with top-k's fixed number.

    Args:
        masses: `[N]`, p from 0 to 1.
        sizes: a prompt's text and its counts `[N]`.
        k: what top-k would keep.
        title: what is seen.
        key: the chart's key.
    """
    figure = frame(title, height=420, revision=key)
    for number, (name, counts) in enumerate(sizes):
        label = escape(name, limit=40)
        figure.add_trace(
            go.Scatter(
                x=packed(masses),
                y=np.asarray(counts, dtype=np.uint32),
                name=label,
                mode="lines",
                line={
                    "color": theme.CATEGORICAL[number],
                    "width": 3,
                    "shape": "hv",
                    "dash": "solid",
                },
                hovertemplate=f"{label}<br>p = %{{x:.2f}} keeps %{{y:,}}<extra></extra>",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=[0, 1],
            y=[k, k],
            name=f"top-k {k}, for comparison",
            mode="lines",
            line={"color": theme.NEUTRAL, "width": 3, "dash": "dot"},
            hovertemplate=f"top-k {k} keeps {k}<extra></extra>",
        )
    )
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.2, "yanchor": "top"})
    most = max(int(np.max(counts)) for _, counts in sizes)
    top = float(np.log10(max(most, k))) + 0.2
    figure.update_yaxes(
        type="log", title="tokens kept", dtick=1, tickformat=",d", range=[-0.1, top]
    )
    figure.update_xaxes(title="p", showgrid=False, range=[0, 1.01])
    return figure
