"""The controls that every page shares: the prompt, the sampling settings and the seed.

They are bound to the link, so a copied address restores them.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components.link import keys, widgets
from components.link.sampling import bias_field, order_field, setting_slider
from components.shell.example_prompts import DEFAULT_PROMPT, PRESETS

EXAMPLE = "example"


@dataclass(frozen=True)
class Request:
    """What the user asks for, before any model is involved."""

    prompt: str
    chat: bool
    """Send the prompt as a chat turn, through the model's template."""
    source: str
    """The model: a name, a hub id or a path."""


def prompt_controls(sources: tuple[str, ...]) -> Request:
    """Draw the prompt box, the presets and, where there is a choice, the model picker.

    Args:
        sources: the models that the operator allows, the default first.
    """
    prompt = st.text_area("Prompt", DEFAULT_PROMPT, key=keys.PROMPT, bind="query-params", height=96)
    chat = widgets.toggle(
        "As a chat turn",
        key=keys.CHAT,
        help="Put the prompt into the model's chat template, as a chat product would.",
    )
    st.menu_button(
        "Example prompts",
        [preset.name for preset in PRESETS],
        key=EXAMPLE,
        on_click=_use_preset,
        width="stretch",
    )
    source = sources[0]
    if len(sources) > 1:
        source = widgets.choice("Model", sources, key=keys.MODEL, draw=st.selectbox)
    return Request(prompt, chat, source)


def sampling_controls() -> None:
    """Draw the sampling settings; `components.link.sampling.read_settings` reads them.

    On the sampling page they are drawn in the cards of the chain instead.
    """
    for key in (
        keys.TEMPERATURE,
        keys.TOP_K,
        keys.TOP_P,
        keys.MIN_P,
        keys.REPETITION_PENALTY,
    ):
        setting_slider(key)
    with st.expander("More settings"):
        for key in (
            keys.PENALTY_WINDOW,
            keys.PRESENCE_PENALTY,
            keys.FREQUENCY_PENALTY,
            keys.TYPICAL_P,
        ):
            setting_slider(key)
        bias_field()
        order_field()


def seed_control() -> int:
    """Draw the seed box and return the seed."""
    entry = keys.limit(keys.SEED)
    return int(
        st.number_input(
            "Seed",
            int(entry.low),
            int(entry.high),
            int(entry.default),
            key=keys.SEED,
            bind="query-params",
            help="The same seed draws the same random numbers.",
        )
    )


def _use_preset() -> None:
    """Put the chosen example into the prompt box."""
    chosen = st.session_state.get(EXAMPLE)
    for preset in PRESETS:
        if preset.name == chosen:
            st.session_state[keys.PROMPT] = preset.prompt
            st.session_state[keys.CHAT] = False
