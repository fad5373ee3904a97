"""The chain on the sampling page: a card for each step, and what a slider redraws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.kit.text import visible
from components.link.sampling import read_settings
from components.sampling.cards import (
    chain_cards,
    order_controls,
    sliders,
    step_picture,
    switches_turned,
)
from components.sampling.cumulative_bar import cumulative_bar
from components.sampling.penalties import Prompt
from components.sampling.presets import preset_buttons
from components.sampling.step_bars import step_bars
from engine.sampling import chain as sampling
from pages.frame import frame
from pages.frame.live import cached_chain, usable_settings
from pages.frame.loading import model_in_use
from pages.frame.results import uniforms

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from pages.frame.live import Live

SLIDERS = "chain_sliders"


def now(live: Live) -> tuple[sampling.SamplingSettings, list[sampling.Stage], int]:
    """Run the chain with the settings of this moment, on the logits that are there.

    Returns:
        The settings, every step of the chain, and the token that the seed draws.
    """
    settings, _ = usable_settings(read_settings()[0], live.model.architecture.vocabulary)
    stages = live.chain(settings)
    return settings, stages, sampling.draw(stages[-1].probabilities, uniforms(live.seed, 1)[0])


def names_of(source: str) -> Callable[[int], str]:
    """Return what gives a token's text with everything made visible."""
    bytes_of = model_in_use(source).tokenizer.bytes_of
    return lambda token_id: visible(bytes_of(token_id), limit=14)


@st.cache_resource(max_entries=8, show_spinner=False)
def pictures(
    source: str,
    ids: tuple[int, ...],
    settings: sampling.SamplingSettings,
    picked: int,
    chat: bool,
) -> Mapping[str, Mapping[str, Any]]:
    """Return what each card draws, by the name of its step."""
    name_of = names_of(source)
    model = model_in_use(source)
    seen = Prompt(
        [name_of(token_id) if model.tokenizer.is_special(token_id) else None for token_id in ids],
        frozenset(name_of(token_id) for token_id in model.stop_ids),
        chat,
    )
    stages = cached_chain(source, ids, settings)[1:]
    return {stage.name: step_picture(stage, settings, name_of, picked, seen) for stage in stages}


def show(live: Live) -> None:
    """Draw the chain as cards."""
    settings, stages, _ = now(live)
    preset_buttons()
    order_controls(settings.order)
    line = st.container()
    names = [stage.name for stage in stages[1:]]
    tokenizer = live.model.tokenizer
    cards = chain_cards(names, settings, names_of(live.model.source), tokenizer.encode)
    _sliders_and_bars(live, line, cards)


@st.fragment(key=SLIDERS)
def _sliders_and_bars(
    live: Live, line: DeltaGenerator, cards: Mapping[str, DeltaGenerator]
) -> None:
    """Draw what a slider changes, alone at each move: the other controls are left as they are."""
    settings, stages, picked = now(live)
    with line:
        u, name_of = uniforms(live.seed, 1)[0], names_of(live.model.source)
        cumulative_bar(stages[-1].probabilities, u, picked, name_of, key="line")
    chat = live.request.chat
    for name, picture in pictures(live.model.source, live.ids, settings, picked, chat).items():
        with cards[name]:
            sliders(name, on_move=partial(_moved, live))
            step_bars(picture, key=f"bars_{name}")


def _moved(live: Live) -> None:
    """After a slider was moved: draw its fragment and the strip, or all if a switch has turned.

    The pictures are made before: a fragment first sends the empty places that it fills, and the
    browser would draw the page for those.
    """
    settings, _, picked = now(live)
    pictures(live.model.source, live.ids, settings, picked, live.request.chat)
    if switches_turned():
        st.rerun()
    st.rerun([SLIDERS, frame.STRIP])
