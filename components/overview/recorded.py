"""The recorded run of the default prompt, shown and marked as such until the model is loaded.

`scripts/record_default_run.py` makes it from the engine's own output.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from components.link import keys
from engine.overview.facts import Overview
from engine.sampling.chain import SamplingSettings

RECORDING = Path(__file__).parent / "default_run.json"


# What the app starts with, so that the live picture goes on where the recorded one stood.
SETTINGS = SamplingSettings(
    temperature=keys.limit(keys.TEMPERATURE).default, top_p=keys.limit(keys.TOP_P).default
)
SEED = int(keys.limit(keys.SEED).default)
TOKENS = 12


@cache
def recorded_run() -> tuple[Overview, ...]:
    """Return the facts before the first token and after each one.

    Raises:
        ValueError: the file is not such a recording.
    """
    recording = json.loads(RECORDING.read_text(encoding="utf-8"))
    return tuple(Overview.from_json(step) for step in recording["steps"])
