"""What can be read off one distribution over the vocabulary: ranks, top tokens, entropy, softmax.

Everything is computed in float64 from float32 logits or probabilities `[V]`, over the whole
vocabulary and never over a top part of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.basics.arrays import Array, Ids, frozen, frozen_ids
from engine.basics.errors import check_index
from engine.basics.results import Result, Table

SMALLEST = 2.0**-149
"""The smallest float32 above 0. A probability that was rounded to 0 counts as this one."""


@dataclass(frozen=True, eq=False)
class TopTokens(Table):
    """The tokens with the largest scores, best first."""

    columns = ("ids", "logits", "probabilities")

    ids: Ids
    """`[n]`."""
    logits: Array
    """`[n]`."""
    probabilities: Array
    """`[n]`, shares of the whole vocabulary, so they need not sum to 1."""


@dataclass(frozen=True, eq=False)
class Histogram(Result):
    """How many tokens have which logit."""

    edges: Array
    """`[B+1]`, where the B bins begin and end."""
    counts: Ids
    """`[B]`, tokens in each bin; they sum to V."""


@dataclass(frozen=True, eq=False)
class SoftmaxSteps(Table):
    """Softmax in its four steps, for a few tokens; the sum runs over the whole vocabulary."""

    columns = ("logits", "shifted", "weights", "probabilities")

    logits: Array
    """`[n]`."""
    largest: float
    """The largest logit of all."""
    shifted: Array
    """`[n]`, `logits - largest`: 0 for the top token, below 0 for all others."""
    weights: Array
    """`[n]`, `exp(shifted)`: between 0 and 1, so that nothing overflows."""
    total: float
    """The sum of the weights of all V tokens."""
    probabilities: Array
    """`[n]`, `weights / total`."""


def largest(values: Array, n: int) -> Ids:
    """Return where the n largest values stand, largest first; of equal ones the lower index first.

    Args:
        values: `[V]`.
        n: How many; all of them at most.
    """
    n = max(0, min(n, len(values)))
    if n == 0:
        return frozen_ids([])
    # Only what may be among the n largest is sorted: a fraction of sorting a whole vocabulary. The
    # stable sort keeps equal values in order.
    smallest = values.min()
    above = values[values > smallest]
    if n <= len(above):  # after a cut most tokens are equally small, which a partition is slow at
        smallest = np.partition(above, len(above) - n)[len(above) - n]
    candidates = np.flatnonzero(values >= smallest)
    return frozen_ids(candidates[np.argsort(-values[candidates], kind="stable")[:n]])


def top(logits: Array, n: int) -> TopTokens:
    """Return the n tokens with the largest scores; of equal scores the lower id comes first.

    Args:
        logits: `[V]`.
        n: How many; the whole vocabulary at most.
    """
    ids = largest(logits, n)
    return TopTokens(ids, frozen(logits[ids]), frozen(softmax(logits)[ids]))


def likeliest(probabilities: Array, n: int) -> tuple[tuple[int, float], ...]:
    """Return the n likeliest tokens as (id, probability), leaving out those of probability 0.

    Args:
        probabilities: `[V]`; of equal ones the lower id comes first.
        n: How many at most.
    """
    best = ((int(i), float(probabilities[i])) for i in largest(probabilities, n))
    return tuple((token_id, share) for token_id, share in best if share > 0)


def softmax(logits: Array) -> Array:
    """Return probabilities `[..., V]`: `exp(logit)` over its sum, computed in float64."""
    shifted = np.asarray(logits, dtype=np.float64)
    weights = np.exp(shifted - shifted.max(axis=-1, keepdims=True))
    return frozen(weights / weights.sum(axis=-1, keepdims=True))


def entropy_bits(probabilities: Array) -> float:
    """Return `−Σ p log₂ p` in bits: 0 for a certain token, log₂ V for all tokens alike.

    Args:
        probabilities: `[V]`, summing to 1.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    p = p[p > 0]
    return float(max(0.0, -(p * np.log2(p)).sum()))


def surprisal_bits(probability: float) -> float:
    """Return −log₂ p, how surprising a token of this probability is: 0 bits if it was certain.

    A probability of 0 counts as the smallest float32, 149 bits: a token that was drawn or forced
    had some probability, however small.
    """
    return -math.log2(max(probability, SMALLEST)) + 0.0  # + 0.0: not -0.0 for a certain token


def log_softmax(logits: Array) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return ln p `[V]` in float64; −inf where a logit is −inf."""
    shifted = np.asarray(logits, dtype=np.float64) - float(logits.max())
    result: np.ndarray[tuple[int], np.dtype[np.float64]] = shifted - np.log(np.exp(shifted).sum())
    return result


def softmax_steps(logits: Array, ids: Ids) -> SoftmaxSteps:
    """Return the steps from logits to probabilities.

    Args:
        logits: `[V]`.
        ids: the tokens to show.
    """
    largest = float(logits.max())
    shifted = np.asarray(logits, dtype=np.float64) - largest
    weights = np.exp(shifted)
    total = float(weights.sum())
    return SoftmaxSteps(
        logits=frozen(logits[ids]),
        largest=largest,
        shifted=frozen(shifted[ids]),
        weights=frozen(weights[ids]),
        total=total,
        probabilities=frozen(weights[ids] / total),
    )


def histogram(logits: Array, bins: int = 60) -> Histogram:
    """Count how many tokens have which logit. Removed ones (−inf) are left out."""
    counts, edges = np.histogram(logits[np.isfinite(logits)], bins=bins)
    return Histogram(frozen(edges), frozen_ids(counts))


def mass_by_rank(probabilities: Array) -> Array:
    """Return the mass of the 1, 2, … V likeliest tokens, `[V]`: a curve that climbs to 1."""
    ordered = np.sort(np.asarray(probabilities, dtype=np.float64))[::-1]
    return frozen(np.cumsum(ordered))


def tokens_for_mass(mass: Array, share: float) -> int:
    """Return how many of the likeliest tokens hold `share` of the mass.

    Args:
        mass: `[V]`, from `mass_by_rank`.
        share: 0 to 1.
    """
    return min(int(np.searchsorted(mass, np.float32(share))) + 1, len(mass))


def rank_of(logits: Array, token_id: int) -> int:
    """Return a token's place, 1 for the likeliest; of equal ones the lower id comes first.

    Raises:
        EngineError: there is no such token.
    """
    token_id = check_index("token id", token_id, len(logits))
    value = logits[token_id]
    return int((logits > value).sum() + (logits[:token_id] == value).sum()) + 1


def effective_choices(entropy_bits: float) -> float:
    """Return 2^H: over how many equally likely tokens the same entropy would be spread."""
    return float(2.0**entropy_bits)


def kl_bits(logits_p: Array, logits_q: Array) -> float:
    """Return KL(p‖q) = Σ p log₂(p/q) in bits, for the distributions of two rows of logits `[V]`.

    0 if both say the same; it grows with what q finds unlikely and p does not, and it is not
    symmetric. Infinite where q excludes a token that p allows.
    """
    log_p, log_q = log_softmax(logits_p), log_softmax(logits_q)
    alive = log_p > -np.inf
    nats = (np.exp(log_p[alive]) * (log_p[alive] - log_q[alive])).sum()
    return max(0.0, float(nats / np.log(2.0)))
