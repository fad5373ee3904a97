"""Sampling: how scores for every token become one token."""

from __future__ import annotations

import streamlit as st

from components.cumulative_bar import cumulative_bar
from components.sampling_cards import chain_cards, order_controls
from components.sampling_depth import in_depth_words
from components.sampling_link import read_settings
from components.sampling_presets import preset_buttons
from components.text import visible
from engine import sampling
from pages.shared import frame, lab
from pages.shared.live import usable_settings

live = frame.live_prompt()
logits = live.trace().logits
u = lab.uniform(live.seed)


def name_of(token_id: int) -> str:
    """Return a token's text with everything made visible."""
    return visible(live.model.tokenizer.bytes_of(token_id), limit=14)


def run() -> tuple[sampling.SamplingSettings, list[sampling.Stage], int]:
    """Run the chain with the settings of this moment on the logits that are there."""
    settings, _ = usable_settings(read_settings()[0], len(logits))
    stages = sampling.run_chain(logits, settings, live.ids, include_off=True)
    return settings, stages, sampling.draw(stages[-1].probabilities, u)


@st.fragment
def chain() -> None:
    """Draw the line that is drawn from, and the chain as cards."""
    settings, stages, picked = run()
    preset_buttons()
    order_controls(settings.order)
    cumulative_bar(stages[-1].probabilities, u, picked, name_of, key="line")
    chain_cards(stages, settings, name_of, picked, live.model.tokenizer.encode)


def visual() -> None:
    """Draw the chosen part of the laboratory."""
    chain()


def in_depth() -> None:
    """Write the formulas with this draw's numbers."""
    settings, stages, picked = run()
    in_depth_words(stages, settings, u, picked, name_of(picked))


def tasks() -> list[frame.Task]:
    """Return what to try."""
    settings, stages, _ = run()
    last = stages[-1]
    top = float(last.probabilities.max())
    return [
        frame.Task(
            "Lower the temperature (but not to 0) until the top token passes 99 %.",
            settings.temperature > 0 and top > 0.99,
            f"The top token has {top:.1%} at T = {settings.temperature:g}.",
        ),
        frame.Task(
            "With top-p alone, keep between 2 and 10 tokens.",
            2 <= last.survivors <= 10 and settings.top_p < 1 and not settings.top_k,
            f"{last.survivors:,} tokens are left.",
        ),
        frame.Task(
            "Find an order of the steps, temperature and a cut that leave another number of "
            "tokens than transformers' order does.",
            _order_matters(settings, last.survivors),
            f"The order is {' → '.join(settings.order)}.",
        ),
    ]


def _order_matters(settings: sampling.SamplingSettings, survivors: int) -> bool:
    from dataclasses import replace

    usual = replace(settings, order=sampling.TRANSFORMERS_ORDER)
    return sampling.run_chain(logits, usual, live.ids)[-1].survivors != survivors


frame.views(visual, in_depth, tasks)
