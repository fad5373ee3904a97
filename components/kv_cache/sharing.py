"""Which query heads share which keys and values (grouped-query attention), drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.clicks import chosen_index
from components.kit.figure import frame


def sharing_figure(heads: int, kv_heads: int, *, selected: int, key: str) -> go.Figure:
    """Draw every query head above the key/value head that it reads.

    Args:
        heads: H, query heads of a layer.
        kv_heads: G, key/value heads of a layer.
        selected: the chosen query head.
        key: the chart's key.
    """
    group = heads // kv_heads
    chosen = selected // group
    title = (
        f"Head {selected} shares key and value head {chosen} with {group - 1} others"
        if group > 1
        else f"Head {selected} has a key/value head of its own: nothing is shared"
    )
    figure = frame(title, height=270, revision=key, hoverdistance=30)
    centres = [(g + 0.5) * group - 0.5 for g in range(kv_heads)]
    for head in range(heads):
        ours = head // group == chosen
        figure.add_shape(
            type="line",
            x0=head,
            y0=0.85,
            x1=centres[head // group],
            y1=0.3,
            line={
                "color": theme.PICKED if head == selected else theme.NEUTRAL,
                "width": 4 if head == selected else (2 if ours else 1),
            },
            layer="below",
        )
    figure.add_trace(_row(list(range(heads)), 1.0, "Q", theme.QUERY, selected))
    figure.add_trace(_row(centres, 0.15, "K", theme.KEY, chosen))
    figure.add_trace(_row(centres, -0.22, "V", theme.VALUE, chosen))
    figure.update_xaxes(visible=False, range=[-0.7, heads - 0.3], fixedrange=True)
    figure.update_yaxes(visible=False, range=[-0.5, 1.3], fixedrange=True)
    return figure


def _row(x: list[Any], y: float, letter: str, colour: str, chosen: int) -> go.Scatter:
    names = {"Q": "query head", "K": "key head", "V": "value head"}
    return go.Scatter(
        x=x,
        y=[y] * len(x),
        mode="markers+text",
        text=[f"{letter}{number}" for number in range(len(x))],
        textfont={"size": 13, "color": "#ffffff"},
        marker={
            "symbol": "square",
            "size": 34,
            "color": colour,
            "opacity": np.where(np.arange(len(x)) == chosen, 1.0, 0.55).tolist(),
        },
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.55}},
        hovertemplate=f"{names[letter]} %{{pointNumber}}<extra></extra>",
    )


def selected_query_head(event: Any, heads: int) -> int | None:
    """Return the query head that was clicked, or None."""
    return chosen_index(event, heads, curve=0)
