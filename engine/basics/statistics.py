"""How well counts fit a distribution, and how well two orders agree.

Total variation, Pearson's chi-square test, and Spearman's rank correlation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.basics.arrays import Array, Ids, frozen_ids
from engine.basics.results import Result

LEAST_EXPECTED = 5
"""The chi-square test holds only for outcomes that are expected at least this often."""


@dataclass(frozen=True)
class ChiSquare(Result):
    """How far counts lie from what was expected, and how often chance alone goes as far."""

    statistic: float
    """Σ (observed − expected)² / expected."""
    degrees: int
    """Groups − 1."""
    p_value: float
    """The probability that right draws differ by at least as much."""


def total_variation(p: npt.ArrayLike, q: npt.ArrayLike) -> float:
    """Return half of Σ |p − q|: 0 for equal distributions, 1 for ones with nothing in common.

    It is the most by which the two can differ in the probability of any event.

    Args:
        p: One distribution, `[n]`.
        q: The other one, over the same outcomes in the same order.
    """
    distances = np.abs(np.asarray(p, dtype=np.float64) - np.asarray(q, dtype=np.float64))
    return 0.5 * float(distances.sum())


def rank_correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return Spearman's correlation of the ranks: 1 for the same order, −1 for the opposite one.

    Equal values share the mean of their ranks. Without any order (all values equal) it is 0.

    Args:
        a: Numbers, `[n]`.
        b: As many numbers.
    """
    ranks = [_ranks(np.asarray(values, dtype=np.float64)) for values in (a, b)]
    x, y = (values - values.mean() for values in ranks)
    size = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / size if size > 0 else 0.0


def _ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    ordered = np.sort(values)
    lower = np.searchsorted(ordered, values, "left").astype(np.float64)
    upper = np.searchsorted(ordered, values, "right").astype(np.float64)
    return 0.5 * (lower + upper - 1)


def chi_square(observed: Sequence[int], expected: Sequence[float]) -> ChiSquare:
    """Compare counts with expected counts (Pearson 1900).

    The caller puts outcomes that are expected fewer than `LEAST_EXPECTED` times together with
    others before: the p-value does not hold for them.
    """
    o, e = np.asarray(observed, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    used = e > 0
    statistic = float((((o - e)[used] ** 2) / e[used]).sum())
    degrees = max(int(used.sum()) - 1, 0)
    return ChiSquare(statistic, degrees, chi_square_tail(statistic, degrees))


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Return P(χ² ≥ statistic), exact for whole degrees of freedom.

    With Q the upper regularised gamma function: Q(a + 1, x) = Q(a, x) + xᵃ e⁻ˣ / Γ(a + 1), from
    Q(1, x) = e⁻ˣ or Q(1/2, x) = erfc(√x).
    """
    if degrees <= 0 or statistic <= 0:
        return 1.0
    x = statistic / 2
    a, total = (1.0, math.exp(-x)) if degrees % 2 == 0 else (0.5, math.erfc(math.sqrt(x)))
    while a < degrees / 2:
        total += math.exp(a * math.log(x) - x - math.lgamma(a + 1))
        a += 1
    return min(1.0, total)


def groups_for_test(probabilities: Array, draws: int, most: int = 9) -> Ids:
    """Return the likeliest tokens that are expected often enough; the rest makes one group.

    Args:
        probabilities: `[V]`.
        draws: How many draws there will be.
        most: How many tokens get a group of their own.
    """
    likeliest = np.argsort(-probabilities, kind="stable")[:most]
    enough = likeliest[probabilities[likeliest] * draws >= LEAST_EXPECTED]
    return frozen_ids(enough if len(enough) else likeliest[:1])
