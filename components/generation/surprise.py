"""How surprising the text was to the model, token by token, and where it was unsure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.figure import frame, packed, token_axis, token_labels
from components.kit.numbers import percent
from components.kit.text import markdown, visible
from components.kit.text import plotly as escape
from engine.basics.distribution import surprisal_bits

if TYPE_CHECKING:
    from engine.generation.token_step import TokenStep


def bits_of(steps: Sequence[TokenStep]) -> list[float]:
    """Return each token's surprise: -log2 of the model's own probability."""
    return [surprisal_bits(step.raw_probability) for step in steps]


def surprise(steps: Sequence[TokenStep], *, key: str, selected: int | None = None) -> go.Figure:
    """Return one bar a token, its surprise, and a line of how much was to be expected.

    Args:
        steps: the tokens of one answer, at least one.
        key: the chart's key.
        selected: index of the chosen token.
    """
    bits = packed(bits_of(steps))
    pieces = [step.data for step in steps]
    most = int(np.argmax(bits))
    title = (
        f"{float(bits.sum()):.0f} bits in all; the greatest surprise is "
        f"{visible(pieces[most], limit=14)}, token {most + 1}"
    )
    figure = frame(title, height=340, revision=key, bargap=0.15)
    x = list(range(len(steps)))
    colours = [theme.PICKED if i == selected else theme.ACCENT for i in x]
    figure.add_trace(
        go.Bar(
            x=x,
            y=bits,
            name="surprise of the token (bits)",
            marker={"color": colours},
            hovertext=[_hover(step) for step in steps],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=x,
            y=packed([step.entropy_bits for step in steps]),
            name="expected surprise (entropy)",
            mode="lines+markers",
            line={"color": theme.CATEGORICAL[2], "width": 2},
            marker={"size": 5},
            hoverinfo="skip",
        )
    )
    figure.update_xaxes(**token_axis(token_labels(pieces, 10), most=40), tickangle=-50)
    figure.update_yaxes(title="bits", rangemode="tozero")
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin={"t": 64, "b": 70},
    )
    return figure


def _hover(step: TokenStep) -> str:
    return (
        f"token {step.index + 1}: {escape(visible(step.data, limit=20))}<br>"
        f"probability {escape(percent(step.raw_probability))}, {bits_of([step])[0]:.2f} bits<br>"
        f"expected (entropy): {step.entropy_bits:.2f} bits"
    )


def where_unsure(steps: Sequence[TokenStep], count: int = 3) -> str:
    """Return as Markdown where the model was least sure of what comes next."""
    order = sorted(steps, key=lambda step: -step.entropy_bits)[:count]
    places = "; ".join(
        f"before token {step.index + 1}, {markdown(visible(step.data, limit=16))} "
        f"({step.entropy_bits:.1f} bits, as open as {2**step.entropy_bits:,.0f} equal choices)"
        for step in order
    )
    total = sum(bits_of(steps))
    return (
        f"The model was least sure {places}. The whole text has {total:.1f} bits, "
        f"{total / len(steps):.2f} a token, so a perplexity of {2 ** (total / len(steps)):.2f}."
    )
