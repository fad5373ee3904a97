"""Reading a distribution: ranks, masses, softmax in steps, divergence."""

import math

import numpy as np
import pytest
import torch

from engine.basics import distribution
from engine.basics.distribution import entropy_bits, softmax
from engine.basics.errors import EngineError


def random_logits(seed, size=500):
    return (np.random.default_rng(seed).standard_normal(size) * 3).astype(np.float32)


def test_softmax_in_steps_is_the_softmax():
    logits = random_logits(1)
    ids = np.array([3, 77, 499])
    steps = distribution.softmax_steps(logits, ids)
    assert steps.largest == logits.max()
    np.testing.assert_allclose(steps.shifted, logits[ids] - logits.max(), atol=1e-6)
    np.testing.assert_allclose(steps.weights / steps.total, steps.probabilities, rtol=1e-6)
    np.testing.assert_allclose(steps.probabilities, softmax(logits)[ids], rtol=1e-5)


def test_logits_that_overflow_alone_do_not_after_the_largest_is_subtracted():
    logits = np.array([1000.0, 999.0, -1000.0], dtype=np.float32)
    steps = distribution.softmax_steps(logits, np.array([0, 1, 2]))
    np.testing.assert_allclose(steps.probabilities, [0.731059, 0.268941, 0], atol=1e-6)


def test_the_histogram_counts_every_token_once():
    logits = random_logits(2)
    counts = distribution.histogram(logits, bins=20)
    assert counts.counts.sum() == 500
    assert len(counts.edges) == 21
    assert counts.edges[0] == logits.min()
    removed = np.where(np.arange(500) < 100, -np.inf, logits).astype(np.float32)
    assert distribution.histogram(removed).counts.sum() == 400


def test_mass_climbs_to_one_and_says_how_many_hold_a_share():
    mass = distribution.mass_by_rank(np.array([0.1, 0.5, 0.25, 0.15], dtype=np.float32))
    np.testing.assert_allclose(mass, [0.5, 0.75, 0.9, 1.0], atol=1e-6)
    assert [distribution.tokens_for_mass(mass, share) for share in (0.1, 0.5, 0.6, 0.8, 1)] == [
        1,
        1,
        2,
        3,
        4,
    ]


def test_ranks_are_the_places_in_the_sorted_vocabulary():
    logits = random_logits(3)
    order = np.argsort(-logits, kind="stable")
    assert [distribution.rank_of(logits, int(order[place])) for place in (0, 1, 250, 499)] == [
        1,
        2,
        251,
        500,
    ]


def test_of_equal_logits_the_lower_id_has_the_better_rank():
    logits = np.array([1.0, 2.0, 2.0, 0.0], dtype=np.float32)
    assert [distribution.rank_of(logits, i) for i in range(4)] == [3, 1, 2, 4]
    with pytest.raises(EngineError, match="no token id 4"):
        distribution.rank_of(logits, 4)


def test_effective_choices_of_equal_tokens_is_their_number():
    even = np.full(8, 1 / 8, dtype=np.float32)
    assert distribution.effective_choices(entropy_bits(even)) == pytest.approx(8)
    assert distribution.effective_choices(0.0) == 1.0


def test_kl_is_its_definition_and_zero_only_for_the_same():
    first, second = random_logits(4), random_logits(5)
    p, q = softmax(first).astype(np.float64), softmax(second).astype(np.float64)
    expected = float((p * np.log2(p / q)).sum())
    assert distribution.kl_bits(first, second) == pytest.approx(expected, rel=1e-4)
    assert distribution.kl_bits(first, second) != distribution.kl_bits(second, first)
    assert distribution.kl_bits(first, first + 5) == pytest.approx(0, abs=1e-6)


def test_kl_of_what_the_other_excludes_is_infinite():
    p = np.zeros(2, dtype=np.float32)
    q = np.array([0.0, -np.inf], dtype=np.float32)
    assert distribution.kl_bits(p, q) == math.inf
    assert distribution.kl_bits(q, p) == pytest.approx(1.0)


def test_the_softmax_equals_torchs_in_float64():
    logits = np.random.default_rng(2).normal(scale=30, size=(3, 5000)).astype(np.float32)
    expected = torch.tensor(logits, dtype=torch.float64).softmax(-1).numpy()
    np.testing.assert_allclose(softmax(logits), expected, rtol=1e-6, atol=1e-30)
    np.testing.assert_allclose(softmax(logits + 10000).sum(axis=-1), 1, atol=1e-6)


def test_entropy_is_in_bits():
    assert entropy_bits(np.full(8, 1 / 8, dtype=np.float32)) == pytest.approx(3)
    assert entropy_bits(np.array([0, 1, 0], dtype=np.float32)) == 0
    assert entropy_bits(np.array([0.5, 0.25, 0.25], dtype=np.float32)) == pytest.approx(1.5)


def test_a_list_of_the_likeliest_sorts_equals_by_id_and_leaves_out_zeros():
    probabilities = np.array([0.1, 0.2, 0.1, 0.0, 0.2, 0.1, 0.3], dtype=np.float32)
    assert [i for i, _ in distribution.likeliest(probabilities, 4)] == [6, 1, 4, 0]
    assert [i for i, _ in distribution.likeliest(probabilities, 50)] == [6, 1, 4, 0, 2, 5]


def test_surprise_is_in_bits_and_a_rounded_zero_counts_as_the_smallest_float32():
    assert distribution.surprisal_bits(0.25) == 2
    assert math.copysign(1, distribution.surprisal_bits(1.0)) == 1
    assert distribution.surprisal_bits(0.0) == 149


def test_the_top_tokens_are_those_of_a_full_sort():
    random = np.random.default_rng(1)
    for size in (5, 100, 5000):
        logits = random.normal(size=size).astype(np.float32).round(1)  # many ties
        probabilities = np.exp(logits.astype(np.float64))
        probabilities /= probabilities.sum()
        expected = sorted(range(size), key=lambda i: (-logits[i], i))
        for n in (0, 1, 3, 40, size, size + 7):
            best = distribution.top(logits, n)
            assert best.ids.tolist() == expected[:n]
            np.testing.assert_array_equal(best.logits, logits[expected[:n]])
            np.testing.assert_allclose(best.probabilities, probabilities[expected[:n]], rtol=1e-6)


def test_equal_scores_come_in_the_order_of_their_ids():
    assert distribution.top(np.array([1, 3, 3, 0, 3], dtype=np.float32), 2).ids.tolist() == [1, 2]


def test_removed_tokens_are_impossible():
    logits = np.array([0, -np.inf, 0, -np.inf], dtype=np.float32)
    np.testing.assert_array_equal(softmax(logits), [0.5, 0, 0.5, 0])
    assert distribution.top(logits, 4).ids.tolist() == [0, 2, 1, 3]
