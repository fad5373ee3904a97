"""Embedding and position: how ids become vectors, and how the model knows their order."""

from __future__ import annotations

import streamlit as st

from components.embedding import depth
from components.kit.tasks import Task
from components.link import keys, widgets
from pages.embedding import guess, views
from pages.frame import frame, results

live = frame.live_prompt()
architecture = live.model.architecture

LOOKS = {
    "Order": views.two_orders,
    "Look-up": views.look_up,
    "Position": views.position,
    "Three ways": views.three_ways,
}


def visual() -> None:
    """Draw the look that was chosen, under one row of controls."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        look = widgets.choice(
            "Look at", list(LOOKS), key=keys.EMBEDDING_PART, label_visibility="collapsed"
        )
        row = st.container(horizontal=True, vertical_alignment="bottom", width="content")
    LOOKS[look](live, row)


def chosen_token() -> int:
    """Return the token that is chosen, or would be in the look-up."""
    start = views.telling(live.model.source, live.ids)
    return min(int(st.session_state.get(keys.TOKEN, start)), len(live.ids) - 1)


def in_depth() -> None:
    """Show the formulas with this prompt's numbers, and the two orders layer by layer."""
    from engine.embedding import rope, table

    index = chosen_token()
    token_id = live.ids[index]
    depth.show_table(architecture, token_id, index, table.row(live.model, token_id))
    if (rotated := results.rotated_pairs(live.model.source)) is not None:
        depth.show_rope(rope.wavelengths(live.model, len(live.ids)), rotated, architecture, index)
    names = {"rope": "RoPE", "learned": "learned positions"}
    views.orders_in_depth(live, names.get(architecture.positions, "positions"))
    depth.show_limits()


def tasks() -> list[Task]:
    """Return what to try."""
    from engine.embedding import rope, table

    waves = (
        rope.wavelengths(live.model, len(live.ids)) if architecture.positions == "rope" else None
    )
    near = table.nearest(live.model, live.ids[chosen_token()], 1)
    return depth.tasks(views.comparison(live), waves, float(near.cosines[0]))


frame.views(visual, in_depth, tasks, lambda: guess.ask(live))
