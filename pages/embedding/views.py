"""What the embedding page shows: two orders, the look-up, the position of a head, three ways.

The engine brings torch with it, so it is imported inside the functions: by then the model is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import streamlit as st

from components.embedding import lookup
from components.embedding import order as order_view
from components.embedding import rope as rope_view
from components.embedding import ways as ways_view
from components.kit.text import visible
from components.link import keys
from components.link.selection import pick
from pages.frame import results
from pages.frame.live import cached_trace
from pages.frame.loading import model_in_use
from pages.frame.shared import shared

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from engine.embedding.order import OrderComparison
    from engine.tokenizer.tokenizer import Token
    from pages.frame.live import Live

WRITTEN = 10
"""Tokens that are written with position and without."""


def two_orders(live: Live, row: DeltaGenerator) -> None:
    """Compare two orders of the same words, and write on with position and without.

    Args:
        live: the prompt on the running model.
        row: where the view's controls stand.
    """
    with row:
        off = order_view.controls()
    told = _orders(live)
    if told is None:
        st.warning("One of the boxes is empty. Type the same words in both, in two orders.")
        return
    tokenizer, source = live.model.tokenizer, live.model.source
    with st.container(key="main_picture"):
        order_view.show(_compared(live, told), told, tokenizer.bytes_of, off=off)
    start = _ids(told.first_tokens)
    with st.spinner("Writing ten tokens with position and ten without …"):
        texts = [
            tokenizer.decode(continued(source, start, positions)) for positions in (True, False)
        ]
    order_view.show_written(told.first, *texts)


def comparison(live: Live) -> OrderComparison | None:
    """Return the comparison of the two texts that stand in the boxes; None if one is empty."""
    told = _orders(live)
    return None if told is None else _compared(live, told)


def orders_in_depth(live: Live, positions: str) -> None:
    """Write the comparison of the two orders layer by layer."""
    if (found := comparison(live)) is not None:
        order_view.show_layers(found, live.model.tokenizer.bytes_of, positions)


def _orders(live: Live) -> order_view.Texts | None:
    first, second = order_view.texts()
    if not first.strip() or not second.strip():
        return None
    cut = [live.model.tokenizer.encode(f" {text}", add_bos=True) for text in (first, second)]
    return order_view.Texts(first, second, *cut)


def _compared(live: Live, told: order_view.Texts) -> OrderComparison:
    return compared(live.model.source, _ids(told.first_tokens), _ids(told.second_tokens))


def _ids(tokens: Iterable[Token]) -> tuple[int, ...]:
    return tuple(token.id for token in tokens)


@shared
def compared(source: str, first: tuple[int, ...], second: tuple[int, ...]) -> OrderComparison:
    """Compare two orders, or return what was found before."""
    from engine.embedding import order

    with st.spinner("Running both orders, with positions and without …"):
        return order.compare(model_in_use(source), first, second)


@shared
def continued(source: str, ids: tuple[int, ...], positions: bool) -> tuple[int, ...]:
    """Return what the model writes next, with position or without."""
    from engine.embedding import order

    return order.written(model_in_use(source), ids, WRITTEN, positions=positions)


def look_up(live: Live, row: DeltaGenerator) -> None:
    """Show the chosen token's row, its neighbours and the map."""
    with row:
        index = _pick_token(live, telling(live.model.source, live.ids))
    with st.container(key="main_picture"):
        lookup.show(
            found(live.model.source, live.ids, index),
            [token.data for token in live.tokens],
            index,
            tied=live.model.architecture.tied,
        )


def _pick_token(live: Live, start: int) -> int:
    """Draw the choice of a token; `start` is chosen until somebody chooses."""
    last = len(live.tokens) - 1

    def name(index: int) -> str:
        return f"{index + 1}: {visible(live.tokens[index].data, limit=14)}"

    return pick(keys.Limit(keys.TOKEN, "Token", 0, last, start, 1, whole=True), name, width=150)


@shared
def telling(source: str, ids: tuple[int, ...]) -> int:
    """Return the token of a prompt whose neighbours in the table say most."""
    from engine.embedding import table

    return table.telling(model_in_use(source), ids)


@shared
def found(source: str, ids: tuple[int, ...], index: int) -> lookup.LookUp:
    """Look a token up and search the whole table, or return what was found before."""
    from engine.embedding import table
    from engine.lm_head import scores

    model, token_id, distinct = model_in_use(source), ids[index], list(dict.fromkeys(ids))
    near, few = table.nearest(model, token_id, 10), len(distinct) <= 20
    flat = table.pca_map(model, distinct if few else [*distinct, *near.ids], 3 if few else 0)
    terms = scores.logit_terms(cached_trace(source, ids, ()), token_id)
    return lookup.LookUp(
        token_id=token_id,
        row=table.row(model, token_id),
        head_row=terms.weights,
        logit=terms.logit,
        near=near,
        near_pieces=[model.tokenizer.bytes_of(int(token)) for token in near.ids],
        flat=flat,
        flat_pieces=[model.tokenizer.bytes_of(int(token)) for token in flat.ids],
        cosines=table.cosine_matrix(model, ids),
    )


def position(live: Live, row: DeltaGenerator) -> None:
    """Show RoPE on the chosen head's own queries and keys, or what stands in its place."""
    way = live.model.architecture.positions
    with row:
        token = _pick_token(live, len(live.ids) - 1)
    with st.container(key="main_picture"):
        if way == "rope":
            _rope(live, row, token)
        elif way == "learned":
            _learned(live, token)
        else:
            st.info(
                "This model is told nothing of positions: order comes from the causal mask alone."
            )


def _rope(live: Live, row: DeltaGenerator, token: int) -> None:
    from engine.embedding import rope

    model, shape = live.model, live.model.architecture
    with row:
        pair = rope_view.choose_pair(len(rope.wavelengths(model, len(live.ids))))
        with st.popover("Layer and head"):
            layer = pick(
                keys.Limit(keys.LAYER, "Layer", 0, shape.layers - 1, 0, 1, whole=True), shown=True
            )
            head = pick(
                keys.Limit(keys.HEAD, "Head", 0, shape.heads - 1, 0, 1, whole=True), shown=True
            )
            name = rope_view.choose_hands()
    facts = rope_view.RopeFacts(
        results.rope_head(model.source, live.ids, layer, head),
        rope.angles(model, range(len(live.ids))),
        rope.wavelengths(model, len(live.ids)),
        *rope.mean_score_by_distance(live.trace(), layer, head),
    )
    pieces = [token.data for token in live.tokens]
    rope_view.show(facts, pieces, rope_view.RopeChoice(token, pair, layer, head, name))


def _learned(live: Live, token: int) -> None:
    from engine.basics.vectors import cosines
    from engine.embedding import positions, table

    rows = positions.learned_rows(live.model, range(len(live.ids)))
    own = table.row(live.model, live.ids[token])
    pieces = [token.data for token in live.tokens]
    ways_view.show_learned(rows[token], own, cosines(rows), pieces, token)


def three_ways(live: Live, row: DeltaGenerator) -> None:
    """Show three ways to say where, side by side."""
    from engine.embedding import positions, rope

    model, shape = live.model, live.model.architecture
    shown = range(min(ways_view.POSITIONS, shape.context))
    with st.container(key="main_picture"):
        ways_view.show(
            positions.sinusoidal(shown, shape.width),
            positions.learned_rows(model, shown) if shape.positions == "learned" else None,
            rope.angles(model, shown) if shape.positions == "rope" else None,
            shape.context,
            results.rotated_pairs(model.source),
        )
