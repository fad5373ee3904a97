"""The controls that every page shares: the prompt, the sampling settings and the seed.

They are bound to the link, so a copied address restores them.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components import state
from components.presets import DEFAULT_PROMPT, PRESETS
from components.text import markdown
from engine.sampling import SamplingSettings


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
    prompt = st.text_area(
        "Prompt", DEFAULT_PROMPT, key=state.PROMPT, bind="query-params", height=96
    )
    chat = st.toggle(
        "As a chat turn",
        key=state.CHAT,
        bind="query-params",
        help="Put the prompt into the model's chat template, as a chat product would.",
    )
    st.menu_button(
        "Example prompts",
        [preset.name for preset in PRESETS],
        key="example",
        on_click=_use_preset,
        width="stretch",
    )
    source = sources[0]
    if len(sources) > 1:
        source = st.selectbox("Model", sources, key=state.MODEL, bind="query-params")
    return Request(prompt, chat, source)


def sampling_controls() -> SamplingSettings:
    """Draw the sampling sliders and return the settings."""
    values = {
        key: _slider(key, help_text)
        for key, help_text in (
            (
                state.TEMPERATURE,
                "Below 1 sharpens the distribution, above 1 flattens it; 0: argmax.",
            ),
            (state.TOP_K, "Keep the k most probable tokens. 0: off."),
            (state.TOP_P, "Keep the most probable tokens that together reach p (nucleus). 1: off."),
            (state.MIN_P, "Drop tokens below this share of the top token's probability. 0: off."),
            (
                state.REPETITION_PENALTY,
                "Above 1 lowers the logits of tokens that have been seen. 1: off.",
            ),
        )
    }
    return SamplingSettings(
        temperature=float(values[state.TEMPERATURE]),
        top_k=int(values[state.TOP_K]),
        top_p=float(values[state.TOP_P]),
        min_p=float(values[state.MIN_P]),
        repetition_penalty=float(values[state.REPETITION_PENALTY]),
    )


def seed_control() -> int:
    """Draw the seed box and return the seed."""
    entry = state.limit(state.SEED)
    return int(
        st.number_input(
            "Seed",
            int(entry.low),
            int(entry.high),
            int(entry.default),
            key=state.SEED,
            bind="query-params",
            help="The same seed draws the same random numbers.",
        )
    )


def show_notices() -> None:
    """Say what was changed in the values that came with the link."""
    for notice in st.session_state.pop(state.NOTICES, ()):
        st.toast(markdown(notice), icon=":material/link:", duration="long")


def _slider(key: str, help_text: str) -> int | float:
    entry = state.limit(key)
    return st.slider(
        entry.label,
        entry.number(entry.low),
        entry.number(entry.high),
        entry.number(entry.default),
        entry.number(entry.step),
        key=key,
        bind="query-params",
        help=help_text,
    )


def _use_preset() -> None:
    """Put the chosen example into the prompt box."""
    chosen = st.session_state.get("example")
    for preset in PRESETS:
        if preset.name == chosen:
            st.session_state[state.PROMPT] = preset.prompt
            st.session_state[state.CHAT] = False
