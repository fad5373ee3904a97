"""Attention: which earlier tokens each token reads, head by head."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from components import state
from components.chart import chart, token_labels
from components.heatmap import heatmap, selected_cell
from components.text import markdown, visible
from pages.shared import frame

live = frame.live_prompt()
trace = live.trace()
pieces = [token.data for token in live.tokens]
labels = token_labels(pieces)


def visual() -> None:
    """Draw the chosen head's pattern, its controls over it."""
    frame.selection(live, layer=True, head=True, token=True)
    layer, head = st.session_state[state.LAYER], st.session_state[state.HEAD]
    pattern = trace.pattern(layer)[head]
    rows, columns = np.indices(pattern.shape)
    shown = np.where(columns <= rows, pattern, np.nan)

    def choose(event: Any) -> None:
        cell = selected_cell(event, shown)
        if cell is not None:
            st.session_state[state.TOKEN] = cell[0]

    chart(
        heatmap(
            shown,
            labels,
            labels,
            title=f"Layer {layer}, head {head}: {pattern[:, 0].mean():.0%} of the attention is on "
            "the first token",
            key="pattern",
            low=0.0,
            high=1.0,
        ),
        key="pattern",
        alt=f"Attention pattern of layer {layer}, head {head}",
        on_select=choose,
    )
    token = st.session_state[state.TOKEN]
    read = int(pattern[token].argmax())
    st.markdown(
        f"Token {token}, {markdown(visible(pieces[token]))}, reads most from token {read}, "
        f"{markdown(visible(pieces[read]))}: {pattern[token, read]:.0%}."
    )


def in_depth() -> None:
    """Show the formula."""
    st.latex(r"\mathrm{pattern} = \mathrm{softmax}(q k^\top / \sqrt{K} + \mathrm{mask})")


def tasks() -> list[frame.Task]:
    """Return what to try."""
    return []


frame.views(visual, in_depth, tasks)
