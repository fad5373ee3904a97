"""The controls that every page shares: the prompt, the sampling settings and the seed.

They are bound to the link, so a copied address restores them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote

import streamlit as st

from components.link import keys, widgets
from components.link.changes import change, change_line
from components.link.sampling import (
    COUNTINGS,
    bias_field,
    counting_choice,
    order_field,
    setting_slider,
)
from components.shell.example_prompts import DEFAULT_PROMPT, PRESETS
from components.shell.prompt_bar import prompt_bar

EXAMPLE = "example"


@dataclass(frozen=True)
class Request:
    """What the user asks for, before any model is involved."""

    prompt: str
    chat: bool
    """Send the prompt as a chat turn, through the model's template."""
    source: str
    """The model: a name, a hub id or a path."""


LONGEST_IN_LINK = 2_000
"""Bytes of a prompt, as the address spells it, that stay in the link: servers between the browser
and the app often refuse addresses beyond 8,000."""


def prompt_text() -> str:
    """Return the prompt, which the link carries where it is short enough."""
    return widgets.kept_text(keys.PROMPT, "Prompt", DEFAULT_PROMPT, spell=_for_link)


def _for_link(prompt: str) -> str | None:
    try:
        return prompt if len(quote(prompt)) <= LONGEST_IN_LINK else None
    except UnicodeEncodeError:  # half of a character pair, which no address can spell
        return None


def prompt_controls(source: str, model: str) -> Request:
    """Draw the prompt box, the chat switch and the examples.

    Args:
        source: the model that is asked for.
        model: a sentence on the running model; empty while presenting.
    """
    prompt = prompt_text()
    box, beside = st.columns([2.2, 1], vertical_alignment="bottom")
    with box:
        applied = prompt_bar(prompt, model)
    with beside, st.container(horizontal=True, vertical_alignment="center"):
        chat = widgets.toggle(
            "As a chat turn",
            key=keys.CHAT,
            help="Off: the model goes on with your text. On: your text is wrapped as a message in "
            "a chat (with marks that nobody sees in a chat app), and the model answers it.",
        )
        st.menu_button(
            "Examples",
            [preset.name for preset in PRESETS],
            key=EXAMPLE,
            on_click=_use_preset,
        )
    if applied is not None and applied != prompt:
        st.session_state[keys.PROMPT] = applied
        prompt = prompt_text()
    change_line()
    if _for_link(prompt) is None:
        st.caption(
            "The prompt is too long for an address: a copied link does not carry it, and a reload "
            "brings the first example back."
        )
    return Request(prompt, chat, source)


def request_unseen(source: str) -> Request:
    """Return what the prompt box and the chat switch say, where neither is drawn.

    Args:
        source: the model that is asked for.
    """
    return Request(prompt_text(), bool(st.session_state.get(keys.CHAT)), source)


def model_picker(sources: tuple[str, ...]) -> str:
    """Draw the choice of the model, where there is one, and return what is chosen."""
    if len(sources) == 1:
        return sources[0]
    return widgets.choice("Model", sources, key=keys.MODEL, draw=st.selectbox)


_SETTINGS = (
    keys.TEMPERATURE,
    keys.TOP_K,
    keys.TOP_P,
    keys.MIN_P,
    keys.REPETITION_PENALTY,
    keys.PENALTY_WINDOW,
    keys.PRESENCE_PENALTY,
    keys.FREQUENCY_PENALTY,
    keys.TYPICAL_P,
    keys.SEED,
)


def sampling_controls(note: str = "", *, without: Collection[str] = ()) -> None:
    """Draw the sampling settings; `components.link.sampling.read_settings` reads them.

    Args:
        note: what they change on this page, if not what one expects.
        without: the settings that the page draws itself.
    """
    if note:
        st.caption(note)
    for key in (
        keys.TEMPERATURE,
        keys.TOP_K,
        keys.TOP_P,
        keys.MIN_P,
        keys.REPETITION_PENALTY,
    ):
        if key not in without:
            setting_slider(key)
    with st.expander("More settings"):
        for key in (keys.PENALTY_WINDOW, keys.PRESENCE_PENALTY, keys.FREQUENCY_PENALTY):
            if key not in without:
                setting_slider(key)
        if keys.COUNTED not in without:
            counting_choice()
        if keys.TYPICAL_P not in without:
            setting_slider(keys.TYPICAL_P)
        if keys.LOGIT_BIAS not in without:
            bias_field()
        if keys.ORDER not in without:
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
            help="Starts the dice. Same prompt, settings and seed: same text. Change it to see "
            "what else could have come.",
        )
    )


def _use_preset() -> None:
    """Put the chosen example into the prompt box."""
    chosen = st.session_state.get(EXAMPLE)
    for preset in PRESETS:
        if preset.name == chosen:
            how = "as a chat turn" if preset.chat else "as plain text"
            change(
                f"{preset.name}, {how}. {preset.see}",
                {keys.PROMPT: preset.prompt, keys.CHAT: preset.chat},
            )


def usual_values() -> dict[str, int | float | str]:
    """Return the usual settings of the sampling and the seed, by key of the session."""
    texts = {keys.LOGIT_BIAS: "", keys.ORDER: "", keys.COUNTED: next(iter(COUNTINGS))}
    return {key: keys.limit(key).number(keys.limit(key).default) for key in _SETTINGS} | texts


def usual_settings() -> None:
    """Draw the button that brings the settings of the sampling and the seed back."""
    usual = usual_values()
    away = any(st.session_state.get(key, value) != value for key, value in usual.items())
    st.button(
        "Usual settings",
        key="usual_settings",
        icon=":material/restart_alt:",
        disabled=not away,
        on_click=change,
        args=("The settings and the seed are the usual ones again.", usual),
        width="stretch",
    )
