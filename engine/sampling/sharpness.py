"""Sharpness is not accuracy: what temperature does to a set of questions with known answers.

`engine/sampling/facts.json` holds short prompts and how each goes on rightly, written for this
product. The model reads each once; every temperature is then worked out from the same logits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.sampling.chain import SamplingSettings, final_probabilities

if TYPE_CHECKING:
    from engine.model.model import LanguageModel

FACTS = Path(__file__).parent / "facts.json"
TEMPERATURES = tuple(round(0.1 * step, 1) for step in range(21))
"""0 to 2."""


@dataclass(frozen=True)
class Fact:
    """A prompt and how it goes on rightly."""

    prompt: str
    answer: str
    """The right text after the prompt; its first token counts."""


@dataclass(frozen=True)
class FactResult:
    """What the model makes of one fact."""

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
class Sharpness:
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


def measure(
    model: LanguageModel,
    facts: Sequence[Fact],
    temperatures: Sequence[float] = TEMPERATURES,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Sharpness:
    """Let the model answer every fact at every temperature; one pass a fact.

    Args:
        model: its lock is held for one pass at a time.
        facts: what is asked.
        temperatures: 0 is argmax.
        progress: told how many of how many facts are done.
        cancelled: asked before each fact; true ends the measurement with those done.
    """
    results = []
    for done, fact in enumerate(facts):
        if cancelled():
            break
        results.append(_ask(model, fact, temperatures))
        progress(done + 1, len(facts))
    return Sharpness(model.name, tuple(temperatures), tuple(results))


def _ask(model: LanguageModel, fact: Fact, temperatures: Sequence[float]) -> FactResult:
    from engine.kv_cache.cached_pass import (
        CachedPass,  # torch comes with it; reading a recording needs none
    )

    tokenizer = model.tokenizer
    ids = [token.id for token in tokenizer.encode(fact.prompt, add_bos=True)]
    right = tokenizer.encode(fact.answer)[0].id
    logits = CachedPass(model).advance(ids)
    greedy = int(logits.argmax())
    rows = [final_probabilities(logits, SamplingSettings(temperature=t)) for t in temperatures]
    return FactResult(
        prompt=fact.prompt,
        right=tokenizer.bytes_of(right).decode(errors="replace"),
        greedy=tokenizer.bytes_of(greedy).decode(errors="replace"),
        is_right=greedy == right,
        top=tuple(round(float(row.max()), 6) for row in rows),
        right_probability=tuple(round(float(row[right]), 6) for row in rows),
    )
