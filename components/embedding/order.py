"""Embedding page, order: two orders of the same words, what comes next, with position and without.

In depth has the same comparison layer by layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from components.kit.bars import bars
from components.kit.lines import lines
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import markdown, readable, visible
from components.kit.token_strip import token_strip, token_views
from components.link import keys, widgets
from components.link.changes import change

if TYPE_CHECKING:
    from engine.basics.distribution import TopTokens
    from engine.embedding.order import OrderComparison, OrderEffect
    from engine.tokenizer.tokenizer import Token

FIRST, SECOND = "four, five, six, seven,", "seven, six, five, four,"
CLASSIC = ("dog bites man.", "man bites dog.")
Piece = Callable[[int], bytes]
"""Token id -> its bytes."""


@dataclass(frozen=True)
class Texts:
    """The two orders, as typed and as tokens."""

    first: str
    second: str
    first_tokens: Sequence[Token]
    second_tokens: Sequence[Token]


def texts() -> tuple[str, str]:
    """Return what stands in the two boxes, drawn or not."""
    kept = st.session_state
    return kept.get(keys.ORDER_FIRST, FIRST), kept.get(keys.ORDER_SECOND, SECOND)


def controls() -> bool:
    """Draw the switch and the two boxes; return whether position is off."""
    off = widgets.toggle("Position off", key=keys.ORDER_OFF)
    with st.popover("Other words"):
        widgets.text("One order", FIRST, key=keys.ORDER_FIRST)
        widgets.text("Another order", SECOND, key=keys.ORDER_SECOND)
        st.caption(
            "A space is put in front of each, so that the first word is the same piece as inside a "
            "sentence. The last word or sign should be the same: it is the one that is compared."
        )
        st.button("Dog bites man", key="order_classic", on_click=_use_classic)
    return off


def _use_classic() -> None:
    first, second = CLASSIC
    change(
        f"The two orders are now “{first}” and “{second}”",
        {keys.ORDER_FIRST: first, keys.ORDER_SECOND: second},
    )


def show(found: OrderComparison, told: Texts, piece: Piece, *, off: bool) -> None:
    """Draw the two orders above each other, each with its tokens and what comes next.

    Args:
        found: what the two orders gave.
        told: the two orders.
        piece: gives a token's bytes.
        off: whether position is off.
    """
    effect = found.without_position if off else found.with_position
    st.markdown(headline(found, piece, off=off))
    if not found.same_tokens:
        st.info(_why_not(found, piece))
    high = max(float(best.probabilities.max()) for best in (effect.first, effect.second))
    for name, text, tokens, best in (
        ("first", told.first, told.first_tokens, effect.first),
        ("second", told.second, told.second_tokens, effect.second),
    ):
        left, right = st.columns([1, 1.5], vertical_alignment="center")
        with left:
            token_strip(
                token_views(tokens),
                key=f"order_strip_{name}",
                label="One order" if name == "first" else "The other order",
                show_ids=False,
            )
        with right:
            chart(
                next_figure(best, text, piece, high=high, key=f"next_{name}"),
                key=f"next_{name}",
                alt=f"The likeliest next tokens after the {name} order",
            )


def next_figure(best: TopTokens, text: str, piece: Piece, *, high: float, key: str) -> go.Figure:
    """Return the likeliest next tokens as bars; `high` is the scale that both orders share."""
    ids = [int(token) for token in best.ids]
    top = visible(piece(ids[0]))
    return bars(
        ids,
        [piece(token) for token in ids],
        best.probabilities,
        title=f"After “{readable(text)}”: {top}, {percent(float(best.probabilities[0]))}",
        key=key,
        high=high,
        height=190,
    )


def headline(found: OrderComparison, piece: Piece, *, off: bool) -> str:
    """Say what is seen, from the values, as Markdown."""
    on_share, off_share = found.with_position.distance, found.without_position.distance
    effect = found.without_position if off else found.with_position
    one, other = (int(best.ids[0]) for best in (effect.first, effect.second))
    if not found.with_position.differences.any():
        return "Both are the same text in the same order, so nothing can differ."
    ways = "The same tokens in two orders" if found.same_tokens else "Two texts"
    if one == other:
        said = f"**{ways}, and {_name(piece, one)} leads after both.** "
    else:
        said = f"**{ways}, and {_name(piece, one)} leads after one, "
        said += f"{_name(piece, other)} after the other.** "
    said += f"The two lists of next tokens differ by {percent(effect.distance)}"
    if not off:
        return f"{said}. Now turn position off."
    said += f"; with position it was {percent(on_share)}. "
    if off_share < on_share and found.same_tokens:
        said += (
            "Nobody tells the model any more where a token stands. The rest of the difference "
            "comes from the mask: each token sees only those before it."
        )
    return said


def _name(piece: Piece, token: int) -> str:
    return markdown(visible(piece(token)))


def show_written(start: str, normal: str, without: str) -> None:
    """Draw what the model writes after the first order, with position and without.

    Args:
        start: the first order.
        normal: what it writes.
        without: what it writes with position off.
    """
    st.markdown("##### Let it write on: ten tokens, always the likeliest")
    left, right = st.columns(2)
    for column, label, text in (
        (left, "With position", normal),
        (right, "Position off", without),
    ):
        with column, st.container(border=True):
            st.caption(label)
            st.markdown(f"{markdown(readable(start))}**{markdown(readable(text))}**")
    st.caption("The same weights and the same start: only the position is taken away.")


def show_layers(found: OrderComparison, piece: Piece, positions: str) -> None:
    """Write the comparison layer by layer.

    Args:
        found: what the two orders gave.
        piece: gives a token's bytes.
        positions: how the model says where, for the words: "RoPE", "learned positions".
    """
    st.markdown("#### Two orders, layer by layer")
    chart(
        figure(found, positions),
        key="order_layers",
        alt="By layer: how far attention's output for the last token differs between the orders",
    )
    st.markdown(explanation(found, positions))
    st.dataframe(
        pd.DataFrame(
            [
                _line(f"with {positions}", found.with_position, piece),
                _line("position off", found.without_position, piece),
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
    """Write a relative difference: 6.4 %, or “under 0.000001” where it is rounding."""
    if value == 0:
        return "0"
    return percent(value) if value >= 1e-4 else "under 0.000001" if value < 1e-6 else f"{value:.6f}"


def _why_not(found: OrderComparison, piece: Piece) -> str:
    def listed(ids: tuple[int, ...]) -> str:
        return ", ".join(_name(piece, token_id) for token_id in ids) or "nothing"

    if found.only_first or found.only_second:
        return (
            "These are not two orders of the same tokens. Only in the first: "
            f"{listed(found.only_first)}; only in the second: {listed(found.only_second)}."
        )
    return "The two orders end in different tokens, so their last tokens can't be compared as one."


def _line(label: str, effect: OrderEffect, piece: Piece) -> dict[str, str]:
    return {
        "run": label,
        "layer 0 differs by": share(float(effect.differences[0])),
        "next-token distributions differ by": share(effect.distance),
        "most probable next, one order": _best(effect.first, piece),
        "most probable next, another order": _best(effect.second, piece),
    }


def _best(best: TopTokens, piece: Piece) -> str:
    return f"{visible(piece(int(best.ids[0])))} {percent(float(best.probabilities[0]))}"
