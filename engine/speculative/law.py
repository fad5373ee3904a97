"""Does speculative decoding keep the target's distribution? Count it, and compare with the law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.generation.loop import random_numbers
from engine.sampling.chain import draw
from engine.sampling.experiments import chi_square
from engine.speculative.drafts import Proposal
from engine.speculative.loop import acceptance, check, residual

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class LawCheck:
    """What many rounds with one guess each gave, beside what they should give."""

    rounds: int
    counts: tuple[int, ...]
    """How often each token came out."""
    expected: tuple[float, ...]
    """The target's distribution."""
    residual: tuple[float, ...]
    accepted: float
    """The share of guesses that were accepted."""
    acceptance: float
    """What that share should be: the sum of min(p, q)."""
    total_variation: float
    """Half the sum of the distances between shares and law: 0 is equal, 1 is disjoint."""
    p_value: float
    """How often chance alone gives a larger chi-square; tiny means another distribution."""


def check_law(p: Sequence[float], q: Sequence[float], *, rounds: int, seed: int) -> LawCheck:
    """Guess one token from q and check it against p, many times over.

    Args:
        p: The target's distribution over a small vocabulary.
        q: The draft's.
        rounds: How many rounds.
        seed: Of their random numbers.
    """
    target, draft = np.asarray(p, np.float32), np.asarray(q, np.float32)
    uniform = random_numbers(seed)
    counts = [0] * len(target)
    accepted = 0
    for _ in range(rounds):
        guess = draw(draft, uniform())
        verdict = check([Proposal(guess, draft)], [target, target], uniform)
        accepted += verdict.accepted
        counts[guess if verdict.accepted else verdict.id] += 1
    law = target.astype(np.float64) / target.sum(dtype=np.float64)
    shares = np.array(counts) / rounds
    return LawCheck(
        rounds=rounds,
        counts=tuple(counts),
        expected=tuple(float(share) for share in law),
        residual=tuple(float(share) for share in residual(target, draft)),
        accepted=accepted / rounds,
        acceptance=acceptance(target, draft),
        total_variation=float(np.abs(shares - law).sum() / 2),
        p_value=chi_square(counts, [float(share) * rounds for share in law]).p_value,
    )
