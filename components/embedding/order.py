"""Embedding page, order: what two orders of the same words change, with position and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from components.kit.lines import lines
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import markdown, visible
from components.link import keys, widgets

if TYPE_CHECKING:
    from engine.embedding.order import OrderComparison, OrderEffect

FIRST, SECOND = "dog bites man.", "man bites dog."
Name = Callable[[int], str]
"""Token id -> its text, visible."""


def texts() -> tuple[str, str]:
    """Return what stands in the two boxes, drawn or not."""
    kept = st.session_state
    return kept.get(keys.ORDER_FIRST, FIRST), kept.get(keys.ORDER_SECOND, SECOND)


def choose() -> None:
    """Draw the two boxes."""
    left, right = st.columns(2)
    with left:
        widgets.text("One order", FIRST, key=keys.ORDER_FIRST)
    with right:
        widgets.text("Another order", SECOND, key=keys.ORDER_SECOND)
    st.caption(
        "A space is put in front of each, so that the first word is the same piece as inside a "
        "sentence. The last word or sign should be the same: it is the one that is compared."
    )


def show(found: OrderComparison | None, name: Name, positions: str) -> None:
    """Draw the comparison.

    Args:
        found: what the two orders gave; None where a box is empty.
        name: names a token.
        positions: how the model says where, for the words: "RoPE", "learned positions".
    """
    if found is None:
        st.warning("One of the boxes is empty. Type the same words in both, in two orders.")
        return
    if not found.same_tokens:
        st.info(_why_not(found, name))
    if not found.with_position.differences.any():
        st.info("Both orders are the same text, so nothing can differ.")
    chart(
        figure(found, positions),
        key="order_layers",
        alt="By layer: how far attention's output for the last token differs between the orders",
    )
    st.markdown(explanation(found, positions))
    st.dataframe(
        pd.DataFrame(
            [
                _line(f"with {positions}", found.with_position, name),
                _line("position off", found.without_position, name),
            ]
        ),
        hide_index=True,
        width="stretch",
        key="order_outcomes",
    )


def figure(found: OrderComparison, positions: str) -> go.Figure:
    """Return both runs' differences by layer, on a log axis."""
    on, off = found.with_position.differences, found.without_position.differences
    title = (
        f"In layer 0 the two orders differ by {share(on[0])}; with position off, by {share(off[0])}"
    )
    return lines(
        {f"with {positions}": on, "position off": off},
        title=title,
        key="order_layers",
        y_title="difference of attn_out",
        log=True,
    )


def explanation(found: OrderComparison, positions: str) -> str:
    """Say what the figure means, from its values."""
    on, off = found.with_position, found.without_position
    if not found.same_tokens:
        return "So every layer may differ, the first one without positions too."
    blind = off.differences[0] <= 1e-6
    first = (
        f"**Layer 0, position off: {share(off.differences[0])}**, which is rounding. Attention is "
        "a weighted sum, and a sum does not know the order of its terms. "
        if blind
        else f"**Layer 0, position off: {share(off.differences[0])}.** "
    )
    return (
        f"{first}**With {positions}: {share(on.differences[0])}**, so the first layer already "
        "hears the order. **From layer 1 on even the run without positions differs** "
        f"({share(off.differences[min(1, len(off.differences) - 1)])} there): each earlier token "
        "has seen only those before it (causal mask), and that leaks the order. So the next-token "
        f"distributions differ too, by {share(off.distance)} of their mass without positions and "
        f"{share(on.distance)} with them."
    )


def share(value: float) -> str:
    """Write a relative difference: 6.4 %, or 7e-08 where it is rounding."""
    if value == 0:
        return "0"
    return percent(value) if value >= 1e-3 else f"{value:.0e}"


def _why_not(found: OrderComparison, name: Name) -> str:
    def listed(ids: tuple[int, ...]) -> str:
        return ", ".join(markdown(name(token_id)) for token_id in ids) or "nothing"

    if found.only_first or found.only_second:
        return (
            "These are not two orders of the same tokens. Only in the first: "
            f"{listed(found.only_first)}; only in the second: {listed(found.only_second)}."
        )
    return "The two orders end in different tokens, so their last tokens can't be compared as one."


def _line(label: str, effect: OrderEffect, name: Name) -> dict[str, str]:
    return {
        "run": label,
        "layer 0 differs by": share(float(effect.differences[0])),
        "next-token distributions differ by": share(effect.distance),
        "most probable next, one order": visible(
            f"{name(effect.first_top)} {percent(effect.first_probability)}"
        ),
        "most probable next, another order": visible(
            f"{name(effect.second_top)} {percent(effect.second_probability)}"
        ),
    }
