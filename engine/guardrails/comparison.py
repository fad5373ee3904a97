"""Every guard over the same questions and seeds: how often does the forbidden word get through?

`compare` runs all guards of `GUARDS` on one scenario and tallies leaks, refusals and time; its
numbers are the guardrails page's summary. `write` writes one answer under one guard. torch is
imported only when something is written, so that a page can be painted before.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.basics.results import Result
from engine.guardrails import filters
from engine.guardrails.ban import SequenceBan, TokenBan
from engine.guardrails.scenario import Scenario, leaks, prompt_ids
from engine.sampling.chain import SamplingSettings

if TYPE_CHECKING:
    from engine.guardrails.batch import Guard, RowStep
    from engine.model.model import LanguageModel

HOLD_BACK = 20
"""How many characters the output filter of the comparison holds back."""


@dataclass(frozen=True)
class Tally(Result):
    """What one guard did over all runs so far."""

    guard: str
    runs: int
    leaks: int
    """Runs after which the word can be read on the screen, however it is spelled."""
    blocked: int
    """Runs that the guard refused or cut off."""
    milliseconds: float
    """Time of the guard itself per token; 0 for a filter on text, which is not measured."""
    told: int = 0
    """Runs after which the secret can be understood: the word can be read, or another word of the
    scenario's list that gives it away."""
    example: str = ""
    """What somebody read after one of the runs: a leak if there is one, else an answer that tells
    the secret in other words, else the first answer. Empty if no run put anything on the screen."""


GUARDS = (
    "no guard",
    "input filter",
    "input filter, normalised",
    "system turn",
    "temperature 0",
    "token ban",
    "sequence ban",
    "output filter",
)
"""In the order of the bars. The filters read the runs without a guard, so wordings and seeds are
the same."""


def write(
    model: LanguageModel,
    ids: Sequence[int],
    settings: SamplingSettings,
    *,
    seed: int,
    max_new_tokens: int,
    guard: Guard | None = None,
) -> Generator[RowStep, None, None]:
    """Write one answer under a guard; without one it is what `generate` writes with this seed."""
    from engine.guardrails.batch import write_rows

    rows = write_rows(
        model, ids, settings, seeds=[seed], max_new_tokens=max_new_tokens, guard=guard
    )
    for (step,) in rows:
        if step is not None:
            yield step


def compare(
    model: LanguageModel,
    scenario: Scenario,
    settings: SamplingSettings,
    *,
    seeds: Sequence[int],
    max_new_tokens: int,
    tick: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Tally, ...]]:
    """Run every guard over all wordings and seeds.

    Args:
        model: The model.
        scenario: What is asked and what must not be said.
        settings: How tokens are drawn, for all guards but "temperature 0".
        seeds: One run each, for each wording.
        max_new_tokens: The token budget of a run.
        tick: Called after every pass; what it raises ends the comparison.

    Returns:
        After each wording the tallies so far, in the order of `GUARDS`.

    Raises:
        EngineError: As `write_rows`, and if there is no word to forbid.
    """
    bans: dict[str, Guard] = {
        "token ban": TokenBan(model.tokenizer, scenario.word),
        "sequence ban": SequenceBan(model.tokenizer, scenario.word),
    }
    tallies = {name: Tally(name, 0, 0, 0, 0.0) for name in GUARDS}
    for _, question in scenario.wordings():
        ids = prompt_ids(model, scenario.system, question)
        plain = _texts(model, ids, settings, seeds, max_new_tokens, tick)
        for name, seen in _filtered(scenario, question, plain).items():
            tallies[name] = _added(tallies[name], scenario, seen, 0.0)
        yield tuple(tallies.values())
        for name in ("system turn", "temperature 0", "token ban", "sequence ban"):
            ruled = f"{scenario.system} {scenario.rule}" if name == "system turn" else None
            runs = _texts(
                model,
                ids if ruled is None else prompt_ids(model, ruled, question),
                replace(settings, temperature=0.0) if name == "temperature 0" else settings,
                seeds[:1] if name == "temperature 0" else seeds,
                max_new_tokens,
                tick,
                bans.get(name),
            )
            # At temperature 0 the seed changes nothing: one run stands for all of them.
            runs = runs * (len(seeds) // len(runs))
            spent = sum(run.guard_milliseconds for run in runs) / len(runs)
            seen = [_Seen(run.text, blocked=False) for run in runs]
            tallies[name] = _added(tallies[name], scenario, seen, spent)
            yield tuple(tallies.values())


@dataclass(frozen=True)
class _Run:
    chunks: tuple[str, ...]
    guard_milliseconds: float
    """Per token, on average."""

    @property
    def text(self) -> str:
        return "".join(self.chunks)


def _texts(
    model: LanguageModel,
    ids: Sequence[int],
    settings: SamplingSettings,
    seeds: Sequence[int],
    max_new_tokens: int,
    tick: Callable[[], None],
    guard: Guard | None = None,
) -> list[_Run]:
    """Return one answer per seed."""
    from engine.guardrails.batch import write_rows

    rows: list[list[RowStep]] = [[] for _ in seeds]
    for steps in write_rows(
        model, ids, settings, seeds=seeds, max_new_tokens=max_new_tokens, guard=guard
    ):
        tick()
        for row, step in zip(rows, steps, strict=True):
            if step is not None:
                row.append(step)
    return [
        _Run(
            tuple(step.text for step in row),
            sum(step.guard_milliseconds for step in row) / len(row),
        )
        for row in rows
    ]


@dataclass(frozen=True)
class _Seen:
    """What a person has on the screen after a run."""

    text: str
    blocked: bool
    """Whether the guard refused the question or stopped the answer."""


def _filtered(scenario: Scenario, question: str, runs: Sequence[_Run]) -> dict[str, list[_Seen]]:
    """Return what is seen of each run, for each guard that reads text."""
    found = {"no guard": [_Seen(run.text, blocked=False) for run in runs]}
    for name, normalised in (("input filter", False), ("input filter, normalised", True)):
        stopped = bool(filters.hits(question, [scenario.topic], normalised=normalised))
        found[name] = [_Seen("" if stopped else run.text, stopped) for run in runs]
    screens = [filters.seen(run.chunks, scenario.word, HOLD_BACK) for run in runs]
    found["output filter"] = [_Seen(one.text, one.fired) for one in screens]
    return found


def _added(tally: Tally, scenario: Scenario, seen: Sequence[_Seen], milliseconds: float) -> Tally:
    runs = tally.runs + len(seen)
    texts = [one.text for one in seen]
    leaked = [leaks(text, scenario.word) for text in texts]
    told = [
        leak or bool(filters.tells(text, scenario.meaning))
        for leak, text in zip(leaked, texts, strict=True)
    ]
    # The best example of this batch counts only if it shows more than the one that there is.
    shown, rank = tally.example, 0 if not tally.example else 1
    rank += (tally.told > 0) + (tally.leaks > 0)
    for text, leak, tell in zip(texts, leaked, told, strict=True):
        worth = bool(text.strip()) + tell + leak
        if text.strip() and worth > rank:
            shown, rank = text, worth
    return Tally(
        guard=tally.guard,
        runs=runs,
        leaks=tally.leaks + sum(leaked),
        blocked=tally.blocked + sum(one.blocked for one in seen),
        milliseconds=(tally.milliseconds * tally.runs + milliseconds * len(seen)) / runs,
        told=tally.told + sum(told),
        example=shown,
    )
