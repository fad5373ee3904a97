"""Sharpness is not accuracy: the facts that a model is asked, and what it answered by temperature.

`facts.json`, beside this module, holds short prompts and the right continuation of each, written
for this product. `engine.generation.sharpness` asks a model; the results here need numpy alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from engine.basics.results import Result

FACTS = Path(__file__).parent / "facts.json"
TEMPERATURES = tuple(round(0.1 * step, 1) for step in range(21))
"""0 to 2."""


@dataclass(frozen=True)
class Fact(Result):
    """A prompt and its right continuation."""

    prompt: str
    answer: str
    """The right text after the prompt; only its first token is compared."""


@dataclass(frozen=True)
class FactResult(Result):
    """What the model answers to one fact, by temperature."""

    prompt: str
    right: str
    """The first token of the right answer, as text."""
    greedy: str
    """The token that the model finds likeliest, as text."""
    is_right: bool
    """Whether the two are the same token."""
    top: tuple[float, ...]
    """At each temperature, the probability of the likeliest token."""
    right_probability: tuple[float, ...]
    """At each temperature, the probability of the right token: how often sampling gives it."""


@dataclass(frozen=True)
class Bin(Result):
    """The facts whose likeliest token has a probability in a range."""

    low: float
    high: float
    right: int
    """Of how many the likeliest token is right."""
    count: int


@dataclass(frozen=True)
class Sharpness(Result):
    """All facts at all temperatures."""

    model: str
    temperatures: tuple[float, ...]
    results: tuple[FactResult, ...]

    @property
    def mean_top(self) -> tuple[float, ...]:
        """At each temperature, the mean probability of the likeliest token: the sharpness."""
        return self._mean([result.top for result in self.results])

    @property
    def greedy_right(self) -> float:
        """The share of facts whose likeliest token is the right one: the same at every T."""
        return float(np.mean([result.is_right for result in self.results]))

    @property
    def sampled_right(self) -> tuple[float, ...]:
        """At each temperature, the expected share of right answers when sampling."""
        return self._mean([result.right_probability for result in self.results])

    def sampled_right_where(self, greedy_is_right: bool) -> tuple[float, ...]:
        """Return `sampled_right` over the facts alone whose likeliest token is right, or is wrong.

        Args:
            greedy_is_right: which of the two groups.

        Returns:
            One share per temperature; empty if the group is.
        """
        rows = [r.right_probability for r in self.results if r.is_right == greedy_is_right]
        return self._mean(rows) if rows else ()

    def at(self, temperature: float) -> int:
        """Return where the temperature nearest to this one stands."""
        return min(
            range(len(self.temperatures)),
            key=lambda place: abs(self.temperatures[place] - temperature),
        )

    def calibration(self, edges: Sequence[float] = (0.0, 0.2, 0.3, 0.5, 1.0)) -> tuple[Bin, ...]:
        """Count how often the likeliest token is right, by its probability at T = 1.

        Args:
            edges: of the bins, climbing; a bin holds its lower edge, the last one both.
        """
        place = self.at(1.0)
        bins = []
        for low, high in pairwise(edges):
            inside = [
                result.is_right
                for result in self.results
                if low <= result.top[place] < high or (high == edges[-1] == result.top[place])
            ]
            bins.append(Bin(low, high, sum(inside), len(inside)))
        return tuple(bins)

    def _mean(self, rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
        return tuple(float(value) for value in np.mean(np.array(rows), axis=0))

    def to_json(self) -> dict[str, Any]:
        """Return plain values; `from_json` reads them."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Sharpness:
        """Read what `to_json` gave."""
        lists = ("top", "right_probability")
        results = tuple(
            FactResult(**{**entry, **{name: tuple(entry[name]) for name in lists}})
            for entry in data["results"]
        )
        return cls(data["model"], tuple(data["temperatures"]), results)


def load_facts(path: Path = FACTS) -> tuple[Fact, ...]:
    """Read the facts."""
    return tuple(Fact(**entry) for entry in json.loads(path.read_text(encoding="utf-8")))
