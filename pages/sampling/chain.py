"""The chain on the sampling page: temperature first, the other steps on one line, one card open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.kit.text import visible
from components.link import keys
from components.link.sampling import read_settings, setting_slider
from components.sampling.cards import (
    order_controls,
    sliders,
    step_card,
    step_chips,
    step_picture,
    switch_turned,
    temperature_picture,
)
from components.sampling.cumulative_bar import cumulative_bar
from components.sampling.parts import open_step
from components.sampling.penalties import Prompt
from components.sampling.presets import preset_pills, preset_turned
from components.sampling.step_bars import step_bars
from components.sampling.step_line import step_line
from engine.sampling import chain as sampling
from pages.frame import frame
from pages.frame.live import chain_after, usable_settings
from pages.frame.loading import model_in_use
from pages.frame.results import uniforms
from pages.frame.shared import shared

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from pages.frame.live import Live

SLIDERS = "chain_sliders"
TEMPERATURE = "temperature"


class Places(NamedTuple):
    """Where the pictures stand that a slider draws anew."""

    bars: DeltaGenerator
    slider: DeltaGenerator
    line: DeltaGenerator
    steps: DeltaGenerator
    card: DeltaGenerator | None


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


@shared
def main_picture(
    source: str, ids: tuple[int, ...], settings: sampling.SamplingSettings, picked: int
) -> Mapping[str, Any]:
    """Return what the temperature alone does."""
    stages = chain_after(source, ids, settings)
    stage = next(stage for stage in stages if stage.name == TEMPERATURE)
    return temperature_picture(stage, settings, names_of(source), picked)


@shared
def card_picture(
    source: str,
    ids: tuple[int, ...],
    settings: sampling.SamplingSettings,
    picked: int,
    chat: bool,
    name: str,
) -> Mapping[str, Any]:
    """Return what the card of one step draws."""
    name_of = names_of(source)
    model = model_in_use(source)
    seen = Prompt(
        [name_of(token_id) if model.tokenizer.is_special(token_id) else None for token_id in ids],
        frozenset(name_of(token_id) for token_id in model.stop_ids),
        chat,
    )
    stage = next(stage for stage in chain_after(source, ids, settings)[1:] if stage.name == name)
    return step_picture(stage, settings, name_of, picked, seen)


def show(live: Live) -> None:
    """Draw the temperature and the draw, the line of steps, and the card of the open step."""
    settings, _, _ = now(live)
    opened = open_step()
    with st.container(key="main_picture"):
        left, right = st.columns([2.4, 1], gap="medium")
        with left:
            bars = st.container()
        with right:
            slider = st.container()
            preset_pills(settings)
        line = st.container()
    across, beside = st.columns([5.4, 1], vertical_alignment="center")
    with across:
        steps = st.container()
    with beside:
        order_controls(settings.order)
    card = None
    if opened:
        encode = live.model.tokenizer.encode
        card = step_card(opened, settings, names_of(live.model.source), encode)
    else:
        st.caption(
            "The steps work from left to right; those that are on have a blue frame and their "
            "value. Press one to see what it does and to set it."
        )
    _sliders_and_bars(live, Places(bars, slider, line, steps, card), opened)


@st.fragment(key=SLIDERS)
def _sliders_and_bars(live: Live, places: Places, opened: str) -> None:
    """Draw what a slider changes, alone at each move: the other controls are left as they are."""
    settings, stages, picked = now(live)
    source, ids = live.model.source, live.ids
    on_move = partial(_moved, live, opened)
    with places.bars:
        step_bars(main_picture(source, ids, settings, picked), key="bars_main")
    with places.slider:
        setting_slider(keys.TEMPERATURE, on_change=on_move)
    with places.line:
        u, name_of = uniforms(live.seed, 1)[0], names_of(source)
        cumulative_bar(stages[-1].probabilities, u, picked, name_of, key="line")
    with places.steps:
        names = [stage.name for stage in stages[1:]]
        pressed = step_line(step_chips(names, settings, opened), key="step_line")
    if places.card is not None:
        with places.card:
            if opened != TEMPERATURE:  # whose slider stands beside its bars
                sliders(opened, on_move=on_move)
            picture = card_picture(source, ids, settings, picked, live.request.chat, opened)
            step_bars(picture, key=f"bars_{opened}")
    if pressed is not None:
        st.session_state[keys.OPEN_STEP] = "" if pressed == opened else pressed
        st.rerun()


def _moved(live: Live, opened: str) -> None:
    """After a slider was moved: draw its fragment and the strip, or all if a mark has changed.

    The pictures are made before: a fragment first sends the empty places that it fills, and the
    browser would draw the page for those.
    """
    settings, _, picked = now(live)
    main_picture(live.model.source, live.ids, settings, picked)
    if opened:
        card_picture(live.model.source, live.ids, settings, picked, live.request.chat, opened)
    if preset_turned(settings) or (opened and switch_turned(opened)):
        st.rerun()
    st.rerun([SLIDERS, frame.STRIP])
