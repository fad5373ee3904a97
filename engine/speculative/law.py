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
        total_variation=total_variation(shares, law),
        p_value=chi_square(counts, [float(share) * rounds for share in law]).p_value,
    )


@dataclass(frozen=True)
class TextLaw(Result):
    """How often each text came out of so many runs, beside how often it should."""

    runs: int
    counts: Mapping[Text, int]
    expected: Mapping[Text, float]
    """The exact probability of each text."""
    total_variation: float
    """Half the sum of the distances between shares and law: 0 is equal, 1 is disjoint."""
    by_chance: float
    """What total variation so many draws from the law itself would give on average."""
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
    """Write the first `LENGTH` tokens again and again with a draft, each run with its own seed.

    Args:
        target: The model whose law it is.
        make_draft: Gives a new draft for each run.
        ids: The prompt's tokens.
        settings: The run's; top-k is set to `CHOICES`.
        runs: How many runs.
        seed: Gives each run its own.

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
        # Seeds that lie far apart: the first numbers of neighbouring ones look alike at times.
        own = int(uniform() * 2**31)
        rounds = speculate(
            target, make_draft(), ids, narrow, k=LENGTH, max_new_tokens=LENGTH, seed=own
        )
        counts[tuple(token for part in rounds for token in part.ids)] += 1
        yield compared(counts, law)


def exact_law(
    target: LanguageModel, ids: Sequence[int], settings: SamplingSettings
) -> dict[Text, float]:
    """Return the probability of each text of `LENGTH` tokens, or fewer with an end token."""
    law: dict[Text, float] = {(): 1.0}
    for _ in range(LENGTH):
        longer: dict[Text, float] = {}
        for text, share in law.items():
            if text and text[-1] in target.stop_ids:
                longer[text] = share
                continue
            context = [*ids, *text]
            p = final_probabilities(CachedPass(target).advance(context), settings, context)
            for token_id in np.flatnonzero(p):
                longer[*text, int(token_id)] = share * float(p[token_id])
        law = longer
    return law


def compared(counts: Mapping[Text, int], law: Mapping[Text, float]) -> TextLaw:
    """Compare what was counted with the law."""
    runs = sum(counts.values())
    texts = law.keys() | counts.keys()  # a text that cannot be counts fully against it
    shares = [counts.get(text, 0) / runs for text in texts]
    # The mean distance of a share from its probability, for many draws: that of a normal.
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
    """Return the p-value of Pearson's test, rare texts taken together."""
    ranked = sorted(law, key=lambda text: -law[text])
    expected: list[float] = []
    counted: list[int] = []
    for text in ranked:
        # The rarest so far takes in what is rarer still, until it is expected often enough.
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
