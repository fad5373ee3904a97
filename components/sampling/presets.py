"""Sampling settings with a name, and what common products and libraries start with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from components.link import keys
from components.link.changes import change
from components.link.sampling import COUNTINGS, neutral
from engine.sampling.chain import SamplingSettings

CHOSEN = "preset"
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
    """A few settings under one name; all others are off, in transformers' order.

    The name says what becomes of the distribution, and promises nothing about the text.
    """

    name: str
    why: str
    """The settings in a few words, and what products call them."""
    values: Mapping[str, float]


PRESETS: tuple[SamplingPreset, ...] = (
    SamplingPreset("The model's own", "T = 1, nothing is cut, every step is off", {}),
    SamplingPreset(
        "Greedy (always the top)",
        "T = 0; sold as “deterministic”",
        {keys.TEMPERATURE: 0},
    ),
    SamplingPreset(
        "Sharp", "T = 0.3, top-p 0.9; sold as “precise”", {keys.TEMPERATURE: 0.3, keys.TOP_P: 0.9}
    ),
    SamplingPreset(
        "A little sharper",
        "T = 0.7, top-p 0.9; sold as “balanced”",
        {keys.TEMPERATURE: 0.7, keys.TOP_P: 0.9},
    ),
    SamplingPreset(
        "Flatter, tail cut",
        "T = 1.2, min-p 0.05; sold as “creative”",
        {keys.TEMPERATURE: 1.2, keys.MIN_P: 0.05},
    ),
    SamplingPreset("Very flat", "T = 2, nothing is cut", {keys.TEMPERATURE: 2}),
)
FORMERLY: Mapping[str, str] = {
    "Greedy": "Greedy (always the top)",
    "Precise": "Sharp",
    "Balanced": "A little sharper",
    "Creative": "Flatter, tail cut",
    "Chaotic": "Very flat",
}
"""What older links call a preset, and its name today."""


def preset_pills(settings: SamplingSettings) -> None:
    """Draw the presets; the one that is on is marked."""
    st.session_state[CHOSEN] = active_preset(settings)
    st.pills(
        "Presets",
        [preset.name for preset in PRESETS],
        key=CHOSEN,
        on_change=_take,
        wrap=True,
        help="\n\n".join(f"**{preset.name}**: {preset.why}." for preset in PRESETS),
    )


def active_preset(settings: SamplingSettings) -> str | None:
    """Return the name of the preset that these settings are; None if they are of one's own."""
    return next((one.name for one in PRESETS if settings_of(one.name) == settings), None)


def preset_turned(settings: SamplingSettings) -> bool:
    """Return whether another preset is on than the one that is marked, or none any more."""
    return bool(st.session_state.get(CHOSEN) != active_preset(settings))


def _take() -> None:
    """Set every step as the chosen preset has it; who presses the one that is on keeps it."""
    chosen = st.session_state[CHOSEN]
    preset = next((one for one in PRESETS if one.name == chosen), None)
    if preset is None:
        return
    values: dict[str, object] = {
        key: keys.limit(key).number(preset.values.get(key, neutral(key))) for key in SETTINGS
    }
    texts = {keys.LOGIT_BIAS: "", keys.ORDER: "", keys.COUNTED: next(iter(COUNTINGS))}
    change(f"Settings “{preset.name}”: {preset.why}. All other steps are off.", values | texts)


def settings_of(name: str) -> SamplingSettings:
    """Return the settings of the preset with that name."""
    values = next(preset.values for preset in PRESETS if preset.name == name)
    return SamplingSettings(**values)  # type: ignore[arg-type]
