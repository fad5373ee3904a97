"""Cuts that a probability hits exactly: the last bit decides, and it is that of transformers."""

from itertools import combinations_with_replacement, islice

import numpy as np
import pytest
import torch
from transformers import MinPLogitsWarper, TopPLogitsWarper, TypicalLogitsWarper

from engine.sampling.chain import SamplingSettings, run_chain
from engine.sampling.experiments import nucleus_sizes

VECTORS = [
    np.array(weights[::-1], np.float32) / np.float32(sum(weights))
    for size, every in ((2, 1), (3, 1), (4, 2), (5, 4))
    for weights in islice(
        combinations_with_replacement((1, 2, 3, 5, 6, 10, 15), size), 0, None, every
    )
]
"""Distributions of a few shares such as 0.5, 0.3, 0.15, 0.05: the settings below hit them."""


def kept(logits, **settings):
    return run_chain(logits, SamplingSettings(**settings))[-1].kept


def kept_by(warper, logits):
    """Return which logits a warper of transformers leaves."""
    row = torch.tensor(np.asarray(logits))[None]
    return (warper(torch.zeros(1, 1, dtype=torch.long), row)[0] > -torch.inf).numpy()


def cases():
    """Yield logits with each share that the settings can hit: a ratio, a sum from either end."""
    for number, shares in enumerate(VECTORS):
        logits = np.log(shares) * np.float32(1 if number % 2 else 1.5)
        logits = np.random.default_rng(number).permutation(logits)
        weights = np.exp(np.sort(logits.astype(float)))
        sums = np.cumsum(weights) / weights.sum()
        ratios = (weights / weights[-1]).tolist()
        yield logits, sorted({*ratios, *sums.tolist(), *(1 - sums[:-1]).tolist()})


def test_the_example():
    logits = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))
    assert np.flatnonzero(kept(logits, min_p=0.3)).tolist() == [0, 1, 2]
    assert np.flatnonzero(kept(logits, min_p=0.6)).tolist() == [0, 1]


def test_min_p_keeps_what_transformers_keeps():
    compared = 0
    for logits, hits in cases():
        for share in [s for s in hits if 0 < s <= 1]:
            compared += 1
            expected = kept_by(MinPLogitsWarper(min_p=share), logits)
            np.testing.assert_array_equal(kept(logits, min_p=share), expected, f"{logits} {share}")
    assert compared > 1500


def test_top_p_keeps_what_transformers_keeps():
    """Of equal logits the warper's sort says which stay; so their values are compared."""
    for logits, hits in cases():
        masses = [s for s in hits if 0 < s < 1]
        sizes = nucleus_sizes(logits, masses)
        for mass, size in zip(masses, sizes, strict=True):
            expected = kept_by(TopPLogitsWarper(top_p=mass), logits)
            found = kept(logits, top_p=mass)
            assert sorted(logits[found]) == sorted(logits[expected]), f"{logits} {mass}"
            assert size == expected.sum()


def test_typical_keeps_what_transformers_keeps():
    for logits, hits in cases():
        for mass in [s for s in hits if 0 < s < 1]:
            expected = kept_by(TypicalLogitsWarper(mass=mass), logits)
            np.testing.assert_array_equal(
                kept(logits, typical_p=mass), expected, f"{logits} {mass}"
            )


@pytest.mark.parametrize("size", [1000, 49_152])
@pytest.mark.parametrize("removed", [0, 0.37])
def test_a_whole_vocabulary(size, removed):
    """Also where an earlier step has removed tokens, and where many logits are equal."""
    random = np.random.default_rng(size)
    logits = np.round(random.standard_normal(size) * 4, 2).astype(np.float32)
    logits[random.random(size) < removed] = -np.inf
    for share in (0.002, 0.05, 0.3, 0.9):
        np.testing.assert_array_equal(
            kept(logits, min_p=share), kept_by(MinPLogitsWarper(min_p=share), logits)
        )
        np.testing.assert_array_equal(
            kept(logits, typical_p=share), kept_by(TypicalLogitsWarper(mass=share), logits)
        )
        expected = kept_by(TopPLogitsWarper(top_p=share), logits)
        found = kept(logits, top_p=share)
        assert sorted(logits[found]) == sorted(logits[expected])
