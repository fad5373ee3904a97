"""Ways to break the recorded race: one press changes one thing and runs the race here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from components.link import keys
from components.link.changes import change
from components.shell.example_prompts import DEFAULT_PROMPT
from components.speculative import recorded
from engine.speculative.drafts import DraftKind

THE_RACE: Mapping[str, Any] = {
    keys.PROMPT: recorded.COPYING,
    keys.CHAT: False,
    keys.TEMPERATURE: recorded.SETTINGS.temperature,
    keys.DRAFT: recorded.KIND.value,
    keys.GUESSES: recorded.GUESSES,
    keys.MAX_NEW_TOKENS: recorded.TOKENS,
}
"""What makes the recorded race, by key of the session."""


@dataclass(frozen=True)
class Change:
    """One way to race otherwise than in the recording."""

    name: str
    """What the button says."""
    sentence: str
    """What is said to have changed."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the recorded race."""


CHANGES: tuple[Change, ...] = (
    Change("The same race", "The recorded race, run here."),
    Change(
        "A prompt with nothing to copy",
        "The race with an open prompt: there is nothing to copy.",
        {keys.PROMPT: DEFAULT_PROMPT},
    ),
    Change(
        "Let chance decide", "The race at temperature 1: chance decides.", {keys.TEMPERATURE: 1.0}
    ),
    Change(
        "Its own first layers as draft",
        "The race with the model’s own first layers as draft (early exit).",
        {keys.DRAFT: DraftKind.EARLY_EXIT.value},
    ),
)


def change_buttons(on_change: Callable[[], None]) -> None:
    """Draw one button per change; `on_change` is called after it is made, to ask for the race."""

    def use(chosen: Change) -> None:
        change(chosen.sentence, {**THE_RACE, **chosen.values})
        on_change()

    with st.container(horizontal=True, vertical_alignment="center", key="break_it"):
        st.markdown("**Run it here, or break it:**", width="content")
        for number, entry in enumerate(CHANGES):
            st.button(entry.name, key=f"break_{number}", on_click=use, args=(entry,))
