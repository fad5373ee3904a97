"""Sampling settings with a name, and what common products and libraries start with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from components.link import keys
from components.link.sampling import COUNTINGS, neutral
from engine.sampling.chain import SamplingSettings

SETTINGS = (
    keys.TEMPERATURE,
    keys.TOP_K,
    keys.TOP_P,
    keys.MIN_P,
    keys.TYPICAL_P,
    keys.REPETITION_PENALTY,
    keys.PENALTY_WINDOW,
    keys.PRESENCE_PENALTY,
    keys.FREQUENCY_PENALTY,
)


@dataclass(frozen=True)
class SamplingPreset:
    """A few settings under one name; all others are off, in transformers' order."""

    name: str
    why: str
    values: Mapping[str, float]


PRESETS: tuple[SamplingPreset, ...] = (
    SamplingPreset("The model's own", "every step off: T = 1, nothing is cut", {}),
    SamplingPreset("Greedy", "always the likeliest token", {keys.TEMPERATURE: 0}),
    SamplingPreset("Precise", "T = 0.3, top-p 0.9", {keys.TEMPERATURE: 0.3, keys.TOP_P: 0.9}),
    SamplingPreset("Balanced", "T = 0.7, top-p 0.9", {keys.TEMPERATURE: 0.7, keys.TOP_P: 0.9}),
    SamplingPreset("Creative", "T = 1.2, min-p 0.05", {keys.TEMPERATURE: 1.2, keys.MIN_P: 0.05}),
    SamplingPreset("Chaotic", "T = 2, nothing cut", {keys.TEMPERATURE: 2}),
)


def preset_buttons() -> None:
    """Draw one button a preset."""
    with st.container(horizontal=True, gap="xsmall", key="presets"):
        for preset in PRESETS:
            st.button(
                preset.name,
                key=f"preset_{preset.name.lower().replace(' ', '_')}",
                help=preset.why,
                on_click=_take,
                args=(preset,),
            )


def _take(preset: SamplingPreset) -> None:
    for key in SETTINGS:
        value = preset.values.get(key, neutral(key))
        st.session_state[key] = keys.limit(key).number(value)
    st.session_state[keys.LOGIT_BIAS] = ""
    st.session_state[keys.ORDER] = ""
    st.session_state[keys.COUNTED] = next(iter(COUNTINGS))


def settings_of(name: str) -> SamplingSettings:
    """Return the settings of the preset with that name."""
    values = next(preset.values for preset in PRESETS if preset.name == name)
    return SamplingSettings(**values)  # type: ignore[arg-type]
