"""How surprising the text was to the model, token by token, and where it was unsure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.figure import frame, packed, token_labels
from components.kit.numbers import percent
from components.kit.text import markdown, visible
from components.kit.text import plotly as escape
from engine.basics.distribution import surprisal_bits

if TYPE_CHECKING:
    from engine.generation.token_step import TokenStep


MOST_NAMED = 40
"""Up to so many tokens stand under the bars; beyond that, their numbers."""


def bits_of(steps: Sequence[TokenStep]) -> list[float]:
    """Return each token's surprise: -log2 of the model's own probability."""
    return [surprisal_bits(step.raw_probability) for step in steps]


def surprise(steps: Sequence[TokenStep], *, key: str, selected: int | None = None) -> go.Figure:
    """Return one bar per token, its surprise, and a line of how much was to be expected.

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
        f"“{visible(pieces[most], limit=14)}”, token {most + 1}"
    )
    figure = frame(title, height=340, revision=key, bargap=0.15)
    x = list(range(1, len(steps) + 1))  # tokens are counted from 1, as in the words
    colours = [theme.PICKED if i - 1 == selected else theme.ACCENT for i in x]
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
    named = len(steps) <= MOST_NAMED
    places = x if named else [1, *range(10, len(steps) + 1, 10)]
    figure.update_xaxes(
        tickmode="array",
        tickvals=places,
        ticktext=token_labels(pieces, 10) if named else [str(place) for place in places],
        tickangle=-50 if named else 0,
        title="" if named else "token of the answer",
        showgrid=False,
        zeroline=False,
        range=[0.5, len(steps) + 0.5],
    )
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
        f"before token {step.index + 1}, “{markdown(visible(step.data, limit=16))}”, as if "
        f"{2**step.entropy_bits:,.0f} tokens were equally likely ({step.entropy_bits:.1f} bits)"
        for step in order
    )
    total = sum(bits_of(steps))
    return (
        f"The model was least sure right {places}. The whole text has {total:.1f} bits of "
        f"surprise, {total / len(steps):.2f} per token, so a perplexity of "
        f"{2 ** (total / len(steps)):.2f}: on average it was as surprised as by a throw of a die "
        "with so many sides."
    )
