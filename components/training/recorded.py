"""The recorded trainings, shown and marked as such until somebody trains here.

`scripts/record_training.py` makes them: a tiny transformer from random weights, and the default
model's two lessons with the settings that the page starts with.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.training.preference import PreferenceStep
    from engine.training.sentence import LearnStep

RECORDING = Path(__file__).parent / "trainings.json"


@dataclass(frozen=True)
class Tiny:
    """A tiny transformer's way from random weights to rhymes."""

    losses: Mapping[int, float]
    samples: Mapping[int, str]
    chance: float
    """The loss if all characters were equally likely."""


@cache
def _recording() -> Any:
    return json.loads(RECORDING.read_text(encoding="utf-8"))


def recorded_tiny() -> Tiny:
    """Return the training from nothing."""
    entry = _recording()["tiny"]
    losses = {int(step): float(loss) for step, loss in entry["losses"].items()}
    samples = {int(step): str(text) for step, text in entry["samples"].items()}
    return Tiny(losses, samples, float(entry["chance"]))


def recorded_sentence() -> tuple[list[str], tuple[LearnStep, ...]]:
    """Return the names of the competing answers, and the steps."""
    from engine.training.sentence import LearnStep

    entry = _recording()["sentence"]
    return entry["names"], tuple(LearnStep(**_tuples(step)) for step in entry["steps"])


def recorded_preference() -> tuple[list[str], tuple[PreferenceStep, ...]]:
    """Return the names of the watched tokens, and the steps."""
    from engine.training.preference import PreferenceStep

    entry = _recording()["preference"]
    return entry["names"], tuple(PreferenceStep(**_tuples(step)) for step in entry["steps"])


def _tuples(step: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(value) if isinstance(value, list) else value for k, value in step.items()}
