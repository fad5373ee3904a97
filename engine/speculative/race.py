"""A race of speculative against plain decoding: the speed-up, measured and by the formula.

The two run in turns: after each round with the draft, plain decoding writes as many tokens. So a
busy moment of the machine slows both, and their times can be compared.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from engine.basics.results import Result
from engine.generation.loop import generate
from engine.generation.token_step import TokenStep
from engine.sampling.chain import SamplingSettings
from engine.speculative.loop import speculate
from engine.speculative.rounds import DraftRound

if TYPE_CHECKING:
    from engine.model.model import LanguageModel
    from engine.speculative.drafts import Draft


@dataclass(frozen=True)
class Lap(Result):
    """One round with a draft, and as many tokens without one."""

    round: DraftRound | None
    """None once the run with a draft is over."""
    steps: tuple[TokenStep, ...]
    """Plain decoding's next tokens; fewer once it is over."""


@dataclass(frozen=True)
class Pay(Result):
    """The result of a race for one draft and one k. Costs are in units of a plain step."""

    k: int
    acceptance: float
    """Accepted guesses divided by checked ones."""
    tokens_a_pass: float
    """New tokens per pass of the target."""
    draft_cost: float
    """The cost of one guess."""
    check_cost: float
    """The cost of a pass of the target over k + 1 tokens, or fewer where fewer were guessed."""
    speed_up: float
    """Plain decoding's time per token divided by the draft's; below 1 the draft makes it slower."""
    predicted: float
    """The speed-up by the formula, from acceptance and costs."""


def race(
    target: LanguageModel,
    draft: Draft,
    ids: Sequence[int],
    settings: SamplingSettings,
    *,
    k: int,
    max_new_tokens: int,
    seed: int,
) -> Generator[Lap, None, None]:
    """Write with a draft and without, in turns.

    Args and errors are those of `engine.speculative.loop.speculate`.
    """
    rounds = speculate(target, draft, ids, settings, k=k, max_new_tokens=max_new_tokens, seed=seed)
    plain = generate(target, ids, settings, max_new_tokens=max_new_tokens, seed=seed)
    return _laps(rounds, plain)


def _laps(
    rounds: Generator[DraftRound, None, None], plain: Generator[TokenStep, None, None]
) -> Generator[Lap, None, None]:
    with contextlib.closing(rounds), contextlib.closing(plain):
        for part in rounds:
            steps = [step for step in (next(plain, None) for _ in part.ids) if step is not None]
            yield Lap(part, tuple(steps))
        for step in plain:
            yield Lap(None, (step,))


def expected_tokens(acceptance: float, k: int) -> float:
    """Return the average number of tokens per pass: 1 + a + a^2 + ... + a^k."""
    return sum(acceptance**i for i in range(k + 1))


def predicted_speed_up(acceptance: float, k: int, draft_cost: float, check_cost: float) -> float:
    """Return the speed-up by the formula: tokens per round over its cost in plain steps."""
    return expected_tokens(acceptance, k) / (k * draft_cost + check_cost)


def pay(laps: Sequence[Lap], k: int) -> Pay | None:
    """Summarise a race; None while there is too little to compare.

    The first round and the first step read the prompt, so they are left out.
    """
    rounds = [lap.round for lap in laps if lap.round is not None][1:]
    steps = [step for lap in laps for step in lap.steps][1:]
    if not rounds or not steps:
        return None
    plain = sum(step.milliseconds for step in steps) / len(steps)
    tokens = sum(len(part.ids) for part in rounds)
    guesses = sum(len(part.proposed) for part in rounds)
    checked = sum(part.checked for part in rounds)
    acceptance = sum(part.accepted for part in rounds) / max(checked, 1)
    drafting = sum(part.draft_milliseconds for part in rounds)
    checking = sum(part.check_milliseconds for part in rounds)
    draft_cost = drafting / max(guesses, 1) / plain
    check_cost = median(part.check_milliseconds for part in rounds) / plain
    return Pay(
        k=k,
        acceptance=acceptance,
        tokens_a_pass=tokens / len(rounds),
        draft_cost=draft_cost,
        check_cost=check_cost,
        speed_up=plain * tokens / (drafting + checking),
        predicted=predicted_speed_up(acceptance, k, draft_cost, check_cost),
    )
