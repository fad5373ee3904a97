"""Sampling: how scores for every token become one token."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.kit.numbers import percent
from components.kit.tasks import Task
from components.kit.text import visible
from components.link import keys, widgets
from components.link.sampling import read_settings
from components.sampling.cards import (
    chain_cards,
    order_controls,
    sliders,
    step_picture,
    switches_turned,
)
from components.sampling.cumulative_bar import cumulative_bar
from components.sampling.depth import in_depth_words
from components.sampling.presets import preset_buttons
from components.sampling.step_bars import step_bars
from engine.sampling import chain as sampling
from pages.frame import frame, results
from pages.frame.live import usable_settings
from pages.sampling import views

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

VIEWS = ("The chain", "Draw", "Sweeps", "A and B", "Sharpness", "Beams")

live = frame.live_prompt()
logits = live.trace().logits
u = results.uniforms(live.seed, 1)[0]


def name_of(token_id: int) -> str:
    """Return a token's text with everything made visible."""
    return visible(live.model.tokenizer.bytes_of(token_id), limit=14)


def run() -> tuple[sampling.SamplingSettings, list[sampling.Stage], int]:
    """Run the chain with the settings of this moment on the logits that are there."""
    settings, _ = usable_settings(read_settings()[0], len(logits))
    stages = live.chain(settings)
    return settings, stages, sampling.draw(stages[-1].probabilities, u)


@lru_cache(maxsize=1)
def step_pictures(settings: sampling.SamplingSettings) -> Mapping[str, Mapping[str, Any]]:
    """Return what each card draws."""
    stages = live.chain(settings)
    picked = sampling.draw(stages[-1].probabilities, u)
    return {stage.name: step_picture(stage, settings, name_of, picked) for stage in stages[1:]}


@st.fragment
def chain() -> None:
    """Draw the chain as cards."""
    settings, stages, _ = run()
    preset_buttons()
    order_controls(settings.order)
    line = st.container()
    names = [stage.name for stage in stages[1:]]
    sliders_and_pictures(line, chain_cards(names, settings, name_of, live.model.tokenizer.encode))


@st.fragment
def sliders_and_pictures(line: DeltaGenerator, cards: Mapping[str, DeltaGenerator]) -> None:
    """Draw what a slider changes, alone at each move: the other controls are left as they are.

    A fragment first sends the empty places that it fills, and the browser draws the page for
    whatever comes. So a slider has the pictures made before, and all are sent at once.
    """
    settings, stages, picked = run()
    with line:
        cumulative_bar(stages[-1].probabilities, u, picked, name_of, key="line")
    for name, picture in step_pictures(settings).items():
        with cards[name]:
            sliders(name, prepare=lambda: step_pictures(run()[0]))
            step_bars(picture, key=f"bars_{name}")
    if switches_turned() or stages[-1].survivors != live.chain(live.settings)[-1].survivors:
        # Switches or the strip over the page still say the old. They are redrawn once the bars are
        # out: a run that starts at once would drop what has not been sent.
        time.sleep(0.05)
        st.rerun()


def visual() -> None:
    """Draw the chosen part of the laboratory."""
    chosen = widgets.choice("Part", VIEWS, key=keys.SAMPLING_PART, label_visibility="collapsed")
    if chosen == VIEWS[1]:
        _, stages, picked = run()
        views.draw_view(live, stages[-1], picked, name_of)
    elif chosen == VIEWS[2]:
        views.sweep_view(live, read_settings()[0], name_of)
    elif chosen == VIEWS[3]:
        views.compare_view(live, run()[0], name_of)
    elif chosen == VIEWS[4]:
        views.sharpness_part(live)
    elif chosen == VIEWS[5]:
        views.beam_part(live, run()[0], name_of)
    else:
        chain()


def in_depth() -> None:
    """Write the formulas with this draw's numbers."""
    settings, stages, picked = run()
    in_depth_words(stages, settings, u, picked, name_of(picked))


def tasks() -> list[Task]:
    """Return what to try."""
    settings, stages, _ = run()
    last = stages[-1]
    top = float(last.probabilities.max())
    usual = replace(settings, order=sampling.TRANSFORMERS_ORDER)
    as_usual = live.chain(usual)[-1].survivors
    only_top_p = replace(sampling.SamplingSettings(), top_p=settings.top_p) == settings
    return [
        Task(
            "Lower the temperature (but not to 0) until the top token passes 99 %.",
            settings.temperature > 0 and top > 0.99,
            f"The top token has {percent(top)} at T = {settings.temperature:g}.",
        ),
        Task(
            "With top-p alone, every other step off, keep between 2 and 10 tokens.",
            2 <= last.survivors <= 10 and settings.top_p < 1 and only_top_p,
            f"{last.survivors:,} tokens are left"
            + ("." if only_top_p else "; other steps are still on."),
        ),
        Task(
            "Find an order of the steps that leaves another number of tokens than transformers' "
            "order does, with the same settings.",
            as_usual != last.survivors,
            f"{' → '.join(settings.order)} leaves {last.survivors:,}, transformers' order leaves "
            f"{as_usual:,}.",
        ),
    ]


frame.views(visual, in_depth, tasks)
