"""Embedding and position: how ids become vectors, and how the model knows their order."""

from __future__ import annotations

import streamlit as st

from components import embedding_depth, embedding_figures, state
from components.chart import chart
from pages.shared import frame

live = frame.live_prompt()
pieces = [token.data for token in live.tokens]
architecture = live.model.architecture


def visual() -> None:
    """Draw the chosen token's row and the angles of every position."""
    from engine import embedding, rope  # torch comes with them, so the page is painted first

    frame.selection(live, token=True)
    token = st.session_state[state.TOKEN]
    embedding_figures.show_row(
        embedding.row(live.model, live.ids[token]),
        index=token,
        token_id=live.ids[token],
        piece=pieces[token],
        tied=architecture.tied,
    )
    if architecture.positions == "rope":
        angles = rope.angles(live.model, range(len(live.ids)))
        chart(
            embedding_figures.angle_figure(angles, pieces, token=token, key="angles"),
            key="angles",
            alt="How far each pair of query and key entries is turned at each position",
        )


def in_depth() -> None:
    """Show the formulas with this prompt's numbers."""
    from engine import embedding, rope

    token = min(st.session_state.get(state.TOKEN, 0), len(live.ids) - 1)
    has_rope = architecture.positions == "rope"
    embedding_depth.show_table(
        architecture, live.ids[token], token, embedding.row(live.model, live.ids[token])
    )
    if has_rope:
        embedding_depth.show_rope(rope.wavelengths(live.model), architecture, token)
    embedding_depth.show_limits()


def tasks() -> list[frame.Task]:
    """Return what to try."""
    return []


frame.views(visual, in_depth, tasks)
