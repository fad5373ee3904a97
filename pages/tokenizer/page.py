"""Tokenizer: how text becomes numbers, and what those pieces are."""

from __future__ import annotations

import streamlit as st

from components.kit.tasks import Task
from components.link import keys, widgets
from components.tokenizer import card, depth
from pages.frame import frame
from pages.tokenizer import guess, views

live = frame.live_prompt(traced=False)
counted = card.totals(live.text, live.tokens)

LOOKS = {
    "How the pieces came to be": lambda: views.pieces(live, counted),
    "Tokens are not words": lambda: views.words(live),
    "What the model receives": lambda: views.template(live),
    "Other vocabularies": lambda: views.vocabularies(live),
}


def visual() -> None:
    """Draw the look that was chosen, under its control."""
    look = widgets.choice(
        "Look at", list(LOOKS), key=keys.TOKENIZER_PART, label_visibility="collapsed"
    )
    with st.container(key="main_picture"):
        LOOKS[look]()


def in_depth() -> None:
    """Show the rule with this prompt's numbers."""
    tokenizer = live.model.tokenizer
    missing = tokenizer.unrepresentable("".join(map(chr, range(128))))
    depth.show(counted, tokenizer.vocabulary, len(missing), len(tokenizer.encode("123")))


def tasks() -> list[Task]:
    """Return what to try."""
    return depth.tasks(counted, live.tokens)


frame.views(visual, in_depth, tasks, lambda: guess.ask(live))
