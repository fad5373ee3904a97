"""Does speculative decoding keep the target's distribution? Two exact tests that count and compare.

`check_law` guesses and checks one token many times, on a made-up vocabulary of a few tokens.
`count_texts` counts the first three tokens of many speculative runs of a real model and compares
them with their true probabilities. These can be written down because top-k 3 leaves only a few
tokens at each place: 27 texts of three tokens, whose probabilities take 13 passes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.results import Result
from engine.basics.statistics import LEAST_EXPECTED, chi_square, total_variation
from engine.generation.random_numbers import random_numbers
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, draw, final_probabilities
from engine.speculative.acceptance import acceptance, check, residual
from engine.speculative.drafts import Proposal
from engine.speculative.loop import speculate

if TYPE_CHECKING:
    from engine.model.model import LanguageModel
    from engine.speculative.drafts import Draft

Text = tuple[int, ...]

CHOICES = 3
"""Top-k of `count_texts`: more would need more passes than a class waits for."""
LENGTH = 3
"""How many tokens of each run `count_texts` counts."""


@dataclass(frozen=True)
class LawCheck(Result):
    """Counts of many rounds with one guess each, beside what they should be."""

    rounds: int
    counts: tuple[int, ...]
    """How often each token came out."""
    expected: tuple[float, ...]
    """The target's distribution."""
    residual: tuple[float, ...]
    """The distribution from which a rejected token is redrawn."""
    accepted: float
    """The share of guesses that were accepted."""
    acceptance: float
    """What that share should be: the sum of min(p, q)."""
    total_variation: float
    """Half the sum of the distances between shares and law: 0 is equal, 1 is disjoint."""
    p_value: float
    """How often chance alone gives a larger chi-square; tiny means another distribution."""


def check_law(p: Sequence[float], q: Sequence[float], *, rounds: int, seed: int) -> LawCheck:
    """Guess one token from q and check it against p, many times.

    Args:
        p: The target's distribution over a small vocabulary.
        q: The draft's.
        rounds: How many rounds.
        seed: The seed of all random numbers.
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
        total_variation=total_variation(shares, law),
        p_value=chi_square(counts, [float(share) * rounds for share in law]).p_value,
    )


@dataclass(frozen=True)
class TextLaw(Result):
    """How often each text was written in a number of runs, beside how often it should be."""

    runs: int
    counts: Mapping[Text, int]
    expected: Mapping[Text, float]
    """The exact probability of each text."""
    total_variation: float
    """Half the sum of the distances between shares and law: 0 is equal, 1 is disjoint."""
    by_chance: float
    """The total variation that as many draws from the exact law would have on average."""
    p_value: float
    """How often chance alone gives a larger chi-square; 1 if all outcomes had to be pooled."""


def count_texts(
    target: LanguageModel,
    make_draft: Callable[[], Draft],
    ids: Sequence[int],
    settings: SamplingSettings,
    *,
    runs: int,
    seed: int,
) -> Generator[TextLaw, None, None]:
    """Write the first `LENGTH` tokens many times with a draft, each run with its own seed.

    Args:
        target: The model whose distribution is tested.
        make_draft: Gives a new draft for each run.
        ids: The prompt's tokens.
        settings: The settings of all runs, except that top-k is set to `CHOICES`.
        runs: How many runs.
        seed: Each run gets a seed of its own from it.

    Returns:
        The state after each run.

    Raises:
        EngineError, SettingsError: At the first step: as `speculate`.
    """
    narrow = replace(settings, top_k=CHOICES)
    law = exact_law(target, ids, narrow)
    counts: Counter[Text] = Counter()
    uniform = random_numbers(seed)
    for _ in range(runs):
        # Seeds that lie far apart: neighbouring seeds can begin with similar numbers.
        own = int(uniform() * 2**31)
        rounds = speculate(
            target, make_draft(), ids, narrow, k=LENGTH, max_new_tokens=LENGTH, seed=own
        )
        counts[tuple(token for part in rounds for token in part.ids)] += 1
        yield compared(counts, law)


def exact_law(
    target: LanguageModel, ids: Sequence[int], settings: SamplingSettings
) -> dict[Text, float]:
    """Return the probability of each text of `LENGTH` tokens, or of fewer up to an end token."""
    law: dict[Text, float] = {(): 1.0}
    for _ in range(LENGTH):
        longer: dict[Text, float] = {}
        for text, share in law.items():
            if text and text[-1] in target.stop_ids:
                longer[text] = share
                continue
            context = [*ids, *text]
            logits = CachedPass(target).advance(context)
            p = final_probabilities(logits, settings, context, prompt_tokens=len(ids))
            for token_id in np.flatnonzero(p):
                longer[*text, int(token_id)] = share * float(p[token_id])
        law = longer
    return law


def compared(counts: Mapping[Text, int], law: Mapping[Text, float]) -> TextLaw:
    """Compare counts of texts with their exact probabilities."""
    runs = sum(counts.values())
    texts = law.keys() | counts.keys()  # a text of probability 0 counts as a deviation too
    shares = [counts.get(text, 0) / runs for text in texts]
    # For many draws a share is normally distributed around p: this is its mean distance from p.
    noise = sum(math.sqrt(2 * p * (1 - p) / (math.pi * runs)) for p in law.values())
    return TextLaw(
        runs=runs,
        counts=dict(counts),
        expected=law,
        total_variation=total_variation(shares, [law.get(text, 0.0) for text in texts]),
        by_chance=noise / 2,
        p_value=_fit(counts, law, runs) if counts.keys() <= law.keys() else 0.0,
    )


def _fit(counts: Mapping[Text, int], law: Mapping[Text, float], runs: int) -> float:
    """Return the p-value of Pearson's test, with rare texts pooled."""
    ranked = sorted(law, key=lambda text: -law[text])
    expected: list[float] = []
    counted: list[int] = []
    for text in ranked:
        # Rarer texts join the last group until it is expected often enough.
        if not expected or expected[-1] >= LEAST_EXPECTED:
            expected.append(0.0)
            counted.append(0)
        expected[-1] += law[text] * runs
        counted[-1] += counts.get(text, 0)
    if len(expected) > 1 and expected[-1] < LEAST_EXPECTED:
        expected[-2:], counted[-2:] = [sum(expected[-2:])], [sum(counted[-2:])]
    if len(expected) < 2:
        return 1.0
    scale = sum(counted) / sum(expected)
    return chi_square(counted, [number * scale for number in expected]).p_value
