"""Embedding and position: how ids become vectors, and how the model knows their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.embedding import depth, lookup
from components.embedding import order as embedding_order
from components.embedding import rope as embedding_rope
from components.embedding import ways as embedding_ways
from components.kit.tasks import Task
from components.kit.text import visible
from components.link import keys, widgets
from pages.frame import frame, results

live = frame.live_prompt()
# The engine brings torch with it; now that the model is there, that takes no time.
from engine.basics.vectors import cosines as cosines_of  # noqa: E402
from engine.embedding import order, positions, rope, table  # noqa: E402
from engine.lm_head import scores  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable

model, ids = live.model, live.ids
architecture = model.architecture
has_rope, has_learned = (architecture.positions == way for way in ("rope", "learned"))
pieces = [token.data for token in live.tokens]


@st.cache_resource(max_entries=8, show_spinner="Running both orders, with positions and without …")
def compared(source: str, first: tuple[int, ...], second: tuple[int, ...]) -> order.OrderComparison:
    """Compare two orders, or return what was found before."""
    return order.compare(model, first, second)


def names(token_ids: Iterable[int]) -> list[bytes]:
    """Return the bytes of tokens."""
    return [model.tokenizer.bytes_of(int(token_id)) for token_id in token_ids]


def visual() -> None:
    """Draw the look that was chosen, under its controls."""
    look = widgets.choice("Look at", list(LOOKS), key=keys.EMBEDDING_PART)
    heads = has_rope and look == "Position"
    frame.selection(live, layer=heads, head=heads, token=look in {"Look-up", "Position"})
    LOOKS[look]()


@st.cache_resource(max_entries=16, show_spinner=False)
def found(source: str, ids: tuple[int, ...], index: int) -> lookup.LookUp:
    """Look a token up and search the whole table, or return what was found before."""
    token_id, distinct = ids[index], list(dict.fromkeys(ids))
    near, few = table.nearest(model, token_id, 12), len(distinct) <= 20
    flat = table.pca_map(model, distinct if few else [*distinct, *near.ids], 3 if few else 0)
    terms = scores.logit_terms(live.trace(), token_id)
    return lookup.LookUp(
        token_id=token_id,
        row=table.row(model, token_id),
        head_row=terms.weights,
        logit=terms.logit,
        near=near,
        near_pieces=names(near.ids),
        flat=flat,
        flat_pieces=names(flat.ids),
        cosines=table.cosine_matrix(model, ids),
    )


def look_up() -> None:
    """Show the chosen token's row, its neighbours and the map."""
    index = st.session_state[keys.TOKEN]
    facts = found(model.source, ids, index)
    lookup.show(facts, pieces, index, tied=architecture.tied)


def comparison() -> order.OrderComparison | None:
    """Return the comparison of the two texts that stand in the boxes; None if one is empty."""
    texts = embedding_order.texts()
    if not all(text.strip() for text in texts):
        return None
    cut = (model.tokenizer.encode(f" {text}", add_bos=True) for text in texts)
    first, second = (tuple(token.id for token in tokens) for tokens in cut)
    return compared(model.source, first, second)


def two_orders() -> None:
    """Compare two orders of the same words."""
    embedding_order.choose()
    said = "RoPE" if has_rope else "learned positions" if has_learned else "positions"
    embedding_order.show(comparison(), lambda id_: visible(model.tokenizer.bytes_of(id_)), said)


def position() -> None:
    """Show RoPE on the chosen head's own queries and keys, or what stands in its place."""
    token = st.session_state[keys.TOKEN]
    if has_rope:
        layer, head = (st.session_state[key] for key in (keys.LAYER, keys.HEAD))
        facts = embedding_rope.RopeFacts(
            results.rope_head(model.source, ids, layer, head),
            rope.angles(model, range(len(ids))),
            rope.wavelengths(model, len(ids)),
            *rope.mean_score_by_distance(live.trace(), layer, head),
        )
        embedding_rope.show(facts, pieces, token, layer, head)
    elif has_learned:
        rows = positions.learned_rows(model, range(len(ids)))
        own, cosines = table.row(model, ids[token]), cosines_of(rows)
        embedding_ways.show_learned(rows[token], own, cosines, pieces, token)
    else:
        st.info("This model is told nothing of positions: order comes from the causal mask alone.")


def ways() -> None:
    """Show three ways to say where, side by side."""
    shown = range(min(embedding_ways.POSITIONS, architecture.context))
    embedding_ways.show(
        positions.sinusoidal(shown, architecture.width),
        positions.learned_rows(model, shown) if has_learned else None,
        rope.angles(model, shown) if has_rope else None,
        architecture.context,
        results.rotated_pairs(model.source, model),
    )


LOOKS = {"Look-up": look_up, "Order": two_orders, "Position": position, "Three ways": ways}


def in_depth() -> None:
    """Show the formulas with this prompt's numbers."""
    index = min(st.session_state.get(keys.TOKEN, 0), len(ids) - 1)
    token_id = ids[index]
    depth.show_table(architecture, token_id, index, table.row(model, token_id))
    if (rotated := results.rotated_pairs(model.source, model)) is not None:
        depth.show_rope(rope.wavelengths(model, len(ids)), rotated, architecture, index)
    depth.show_limits()


def tasks() -> list[Task]:
    """Return what to try."""
    index = min(st.session_state.get(keys.TOKEN, 0), len(ids) - 1)
    waves = rope.wavelengths(model, len(ids)) if has_rope else None
    cosine = float(table.nearest(model, ids[index], 1).cosines[0])
    return depth.tasks(comparison(), waves, cosine)


frame.views(visual, in_depth, tasks)
