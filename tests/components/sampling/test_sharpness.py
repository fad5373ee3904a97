"""The recorded measurement of sharpness: it says what the page claims, and the model agrees."""

import json

import numpy as np
import pytest

from components.sampling.sharpness import RECORDING
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
