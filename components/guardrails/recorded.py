"""The recorded comparison of all guards, shown and marked as such until somebody runs it.

`scripts/record_guards.py` makes it with the default model and the settings that the app starts
with.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from components.link import keys
from engine.guardrails.comparison import Tally
from engine.sampling.settings import SamplingSettings

RECORDING = Path(__file__).parent / "all_guards.json"

SETTINGS = SamplingSettings(
    temperature=keys.limit(keys.TEMPERATURE).default, top_p=keys.limit(keys.TOP_P).default
)
SEEDS = range(10)
"""One run each, for each wording of the question."""
BUDGET = 20
"""Tokens of a run."""


@cache
def recorded(scenario: str) -> tuple[Tally, ...]:
    """Return the tallies of one of the two scenarios, in the order of the guards.

    Raises:
        KeyError: there is no scenario of this name.
    """
    recording = json.loads(RECORDING.read_text(encoding="utf-8"))
    return tuple(Tally(**entry) for entry in recording[scenario]["tallies"])
