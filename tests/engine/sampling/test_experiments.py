"""Sweeps and many draws are the chain and the draw themselves; the tail of chi-square is exact."""

import numpy as np
import pytest

from engine.basics.distribution import entropy_bits
from engine.basics.statistics import chi_square, groups_for_test
from engine.sampling import experiments
from engine.sampling.chain import SamplingSettings, draw, final_probabilities, run_chain


def random_logits(seed, size=2000):
    return (np.random.default_rng(seed).standard_normal(size) * 3).astype(np.float32)


def test_a_temperature_sweep_is_the_chain_at_each_temperature():
    logits = random_logits(1)
    sweep = experiments.temperature_sweep(logits, [0.05, 1.0, 3.0], 4)
    assert sweep.ids.tolist() == np.argsort(-logits)[:4].tolist()
    for row, bits, temperature in zip(
        sweep.probabilities, sweep.entropy_bits, (0.05, 1.0, 3.0), strict=True
    ):
        final = final_probabilities(logits, SamplingSettings(temperature=temperature))
        np.testing.assert_allclose(row, final[sweep.ids], rtol=1e-6, atol=0)
        assert bits == pytest.approx(entropy_bits(final))
    assert (np.diff(sweep.entropy_bits) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_nucleus_sizes_are_what_top_p_keeps(seed):
    logits = random_logits(seed)
    masses = [0.0, 0.01, 0.3, 0.5, 0.9, 0.99, 1.0]
    kept = [run_chain(logits, SamplingSettings(top_p=p))[-1].survivors for p in masses]
    assert experiments.nucleus_sizes(logits, masses).tolist() == kept
    assert kept[0] == 1
    assert kept[-1] == len(logits)


def test_many_draws_are_single_draws():
    probabilities = final_probabilities(random_logits(6), SamplingSettings(top_k=30))
    u = np.random.default_rng(0).random(200)
    drawn = experiments.draw_many(probabilities, u.tolist())
    assert drawn.tolist() == [draw(probabilities, value) for value in u.tolist()]
    ends = experiments.draw_many(probabilities, [0.0, float(np.nextafter(1, 0))])
    assert (probabilities[ends] > 0).all()


def test_right_draws_pass_and_wrong_ones_fail():
    probabilities = final_probabilities(random_logits(7), SamplingSettings(top_k=10))
    numbers = np.random.default_rng(3).random(1000).tolist()
    groups = groups_for_test(probabilities, 1000)
    expected = [float(probabilities[i]) * 1000 for i in groups]
    assert all(value >= 5 for value in expected)

    def p_value(weights):
        drawn = experiments.draw_many(weights, numbers)
        observed = [int((drawn == i).sum()) for i in groups]
        rest = [1000 - sum(observed)], [1000 - sum(expected)]
        return chi_square(observed + rest[0], expected + rest[1]).p_value

    assert p_value(probabilities) > 0.001
    assert p_value(np.sqrt(probabilities)) < 1e-6
