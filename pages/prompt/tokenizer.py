"""Tokenizer: how text becomes numbers, and what those pieces are."""

from __future__ import annotations

import streamlit as st

from components import state, tokenizer_card, tokenizer_depth
from components.token_strip import token_strip, token_views
from pages.shared import frame

live = frame.live_prompt(traced=False)
counted = tokenizer_card.totals(live.text, live.tokens)


def visual() -> None:
    """Draw the strip, the chosen token's card and the closer looks."""
    strip, card = st.columns([2.2, 1])
    with card:
        frame.selection(live, token=True)
        index = st.session_state[state.TOKEN]
        tokenizer_card.show_token(live.tokens, index)

    def choose(chosen: int) -> None:
        st.session_state[state.TOKEN] = chosen

    with strip:
        st.markdown(f"#### {counted.characters:,} characters became {counted.tokens:,} tokens")
        token_strip(token_views(live.tokens), key="tokens", selected=index, on_select=choose)
        tokenizer_card.show_totals(counted)


def in_depth() -> None:
    """Show the rule with this prompt's numbers."""
    missing = live.model.tokenizer.unrepresentable("".join(map(chr, range(128))))
    tokenizer_depth.show(counted, live.model.architecture.vocabulary, len(missing))


def tasks() -> list[frame.Task]:
    """Return what to try."""
    return [frame.Task(*task) for task in tokenizer_depth.tasks(counted, live.tokens)]


frame.views(visual, in_depth, tasks)
