"""The recorded measurement of sharpness: it says what the page claims, and the model agrees."""

import json

import numpy as np
import pytest

from components.sampling.sharpness import RECORDING, example
from engine.generation.sharpness import measure
from engine.sampling.sharpness import TEMPERATURES, Sharpness, load_facts


def recording():
    return Sharpness.from_json(json.loads(RECORDING.read_text(encoding="utf-8")))


def test_the_recording_is_of_these_facts_and_says_what_the_page_claims():
    result = recording()
    assert [entry.prompt for entry in result.results] == [fact.prompt for fact in load_facts()]
    assert result.temperatures == TEMPERATURES
    # Sharper and sharper, and not one answer more that is right.
    assert list(result.mean_top) == sorted(result.mean_top, reverse=True)
    assert result.mean_top[0] == 1.0
    assert result.sampled_right[0] == pytest.approx(result.greedy_right)
    assert result.sampled_right[-1] < result.greedy_right
    australia = next(entry for entry in result.results if "Australia" in entry.prompt)
    assert (australia.greedy, australia.is_right, australia.top[0]) == (" Sydney", False, 1.0)


def test_cold_helps_one_group_and_ruins_the_other():
    result = recording()
    right, wrong = result.sampled_right_where(True), result.sampled_right_where(False)
    one = result.at(1)
    assert (right[0], wrong[0]) == (1.0, 0.0)
    assert (round(right[one], 2), round(wrong[one], 2)) == (0.58, 0.12)
    together = (55 * np.array(right) + 13 * np.array(wrong)) / 68
    np.testing.assert_allclose(together, result.sampled_right, atol=1e-6)
    assert example(result).prompt == "The capital of Australia is"


def test_the_bins_hold_each_fact_once_and_sure_ones_are_right_more_often():
    bins = recording().calibration()
    assert [(entry.right, entry.count) for entry in bins] == [(7, 15), (4, 5), (13, 17), (31, 31)]
    assert sum(entry.count for entry in bins) == 68
    edge = recording().calibration((0.0, 1.0))
    assert (edge[0].right, edge[0].count) == (55, 68)


@pytest.mark.real
def test_the_model_still_gives_what_was_recorded(real_model):
    kept = recording()
    facts = [
        fact for fact in load_facts() if "capital of A" in fact.prompt or "gold" in fact.prompt
    ]
    now = measure(real_model, facts)
    for entry in now.results:
        same = next(old for old in kept.results if old.prompt == entry.prompt)
        assert entry.greedy == same.greedy
        np.testing.assert_allclose(entry.top, same.top, atol=1e-3)
        np.testing.assert_allclose(entry.right_probability, same.right_probability, atol=1e-3)
