"""Looking is not mattering: each head's attention on a token beside what its removal changes.

A head may give a token 80 % of its attention and change nothing when it is taken away. Here both
numbers stand side by side for all heads, with how well their orders agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.basics.arrays import Array, frozen
from engine.basics.results import Table
from engine.basics.statistics import rank_correlation

SMALLEST = 1e-12
"""Probabilities below this count as this, so that a ratio of two has a logarithm."""


@dataclass(frozen=True, eq=False)
class Looking(Table):
    """What every head reads, and what the answer is without it."""

    columns = ("shares", "probabilities", "changes")
    axes = ("layer", "head")

    shares: Array
    """`[L, H]`, the attention on the token that is read."""
    probabilities: Array
    """`[L, H]`, the answer's probability without that head."""
    changes: Array
    """`[L, H]`, log₂ of how the probability changed: −1 where it is half of what it was."""
    plain: float
    """The answer's probability with all heads."""
    agreement: float
    """Spearman's rank correlation of the shares with the size of the changes: 1 if whoever looks
    more matters more, 0 if the two have nothing to do with each other."""


def compare(shares: Array, probabilities: Array, plain: float) -> Looking:
    """Put what heads read beside what their removal changes.

    Args:
        shares: `[L, H]`, each head's attention on one token, 0 to 1.
        probabilities: `[L, H]`, the answer's probability without each head, from a sweep.
        plain: The answer's probability with all heads.
    """
    changes = np.log2(np.maximum(probabilities, SMALLEST) / max(plain, SMALLEST))
    agreement = rank_correlation(np.ravel(shares), np.abs(changes).ravel())
    return Looking(frozen(shares), frozen(probabilities), frozen(changes), plain, agreement)
