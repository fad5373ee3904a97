"""The controls that every page shares: the prompt, the sampling settings and the seed.

They are bound to the link, so a copied address restores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from components.link import keys, widgets
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
    """Draw the sampling settings; `sampling_link.read_settings` reads them.

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


def bias_field() -> None:
    """Draw the logit bias as text."""
    widgets.text(
        "Logit bias",
        key=keys.LOGIT_BIAS,
        placeholder="id:bias, id:bias",
        help="Added to a token's logit, from −100 to 100: `6345:-100, 260:5`.",
    )


def order_field() -> None:
    """Draw the order of the steps as text."""
    widgets.text(
        "Order of the steps",
        key=keys.ORDER,
        placeholder="transformers",
        help="`transformers`, `llama.cpp`, or temperature, top_k, top_p, min_p, typical in any "
        "order, with commas.",
    )


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


_HELP: Mapping[str, str] = {
    keys.TEMPERATURE: "Below 1 sharpens the distribution, above 1 flattens it; 0: argmax.",
    keys.TOP_K: "Keep the k most probable tokens. 0: off.",
    keys.TOP_P: "Keep the most probable tokens that together reach p (nucleus). 1: off.",
    keys.MIN_P: "Drop tokens below this share of the top token's probability. 0: off.",
    keys.REPETITION_PENALTY: "Above 1 lowers the logits of tokens that have been seen. 1: off.",
    keys.PENALTY_WINDOW: "How many of the last tokens the penalties look at. 0: all.",
    keys.PRESENCE_PENALTY: "Subtracted once from the logit of each token that was seen. 0: off.",
    keys.FREQUENCY_PENALTY: "Subtracted for each time that the token was seen. 0: off.",
    keys.TYPICAL_P: "Keep this mass of the tokens whose surprise is nearest to usual. 1: off.",
}


def setting_slider(
    key: str, *, label: str | None = None, hide_label: bool = False, **look: Any
) -> None:
    """Draw the slider of one number that is bound to the link.

    Args:
        key: of the setting.
        label: in place of its usual one.
        hide_label: show neither label nor help.
        look: further arguments of `st.slider`.
    """
    widgets.slider(
        keys.limit(key),
        label=label,
        help=None if hide_label else _HELP[key],
        label_visibility="collapsed" if hide_label else "visible",
        **look,
    )


def _use_preset() -> None:
    """Put the chosen example into the prompt box."""
    chosen = st.session_state.get(EXAMPLE)
    for preset in PRESETS:
        if preset.name == chosen:
            st.session_state[keys.PROMPT] = preset.prompt
            st.session_state[keys.CHAT] = False
