"""Experiments on one row of logits: sweep a setting, or draw many times from one distribution.

None of them needs another pass of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.basics.arrays import Array, Ids, frozen, frozen_ids
from engine.basics.distribution import entropy_bits, largest
from engine.basics.results import Table
from engine.sampling.chain import SamplingSettings, final_probabilities
from engine.sampling.steps import shares_from_below


@dataclass(frozen=True, eq=False)
class TemperatureSweep(Table):
    """The same logits at many temperatures."""

    columns = ("probabilities",)
    axes = ("temperatures", "ids")

    temperatures: Array
    """`[N]`."""
    ids: Ids
    """`[n]`, the likeliest tokens; their order is the same at every temperature."""
    probabilities: Array
    """`[N, n]`."""
    entropy_bits: Array
    """`[N]`."""


def temperature_sweep(logits: Array, temperatures: Sequence[float], n: int = 6) -> TemperatureSweep:
    """Return the n likeliest tokens and the entropy at each temperature.

    Args:
        logits: `[V]`.
        temperatures: 0 is argmax.
        n: how many tokens.
    """
    ids = largest(logits, n)
    rows = [final_probabilities(logits, SamplingSettings(temperature=t)) for t in temperatures]
    return TemperatureSweep(
        temperatures=frozen(list(temperatures)),
        ids=ids,
        probabilities=frozen([row[ids] for row in rows]),
        entropy_bits=frozen([entropy_bits(row) for row in rows]),
    )


def nucleus_sizes(logits: Array, masses: Sequence[float]) -> Ids:
    """Return how many tokens top-p keeps for each p, `[N]`.

    This is the rule of `steps.top_p` for many p at the cost of one sort: from the least likely
    token up, remove while the removed mass is at most 1 − p. One token always stays.
    """
    _, below = shares_from_below(np.sort(logits))
    cut = np.searchsorted(below, np.float32(1.0 - np.asarray(masses)), side="right")
    removed_count = np.where(np.asarray(masses) >= 1.0, 0, np.minimum(cut, len(logits) - 1))
    return frozen_ids(len(logits) - removed_count)


def draw_many(probabilities: Array, u: Sequence[float]) -> Ids:
    """Return the token of each random number, `[N]`: `chain.draw` for many at once.

    Args:
        probabilities: `[V]`.
        u: each in [0, 1).
    """
    weights = np.asarray(probabilities, dtype=np.float64)
    drawable = np.flatnonzero(weights > 0)
    cumulative = weights[drawable].cumsum()
    places = np.searchsorted(cumulative, np.asarray(u) * cumulative[-1], side="right")
    return frozen_ids(drawable[np.minimum(places, len(drawable) - 1)])
