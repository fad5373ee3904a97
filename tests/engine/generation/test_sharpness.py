"""The facts, the measurement on them, and the recording that the page shows."""

import json

import numpy as np
import pytest

from components.sampling.sharpness import RECORDING
from engine.sampling.sharpness import TEMPERATURES, Fact, Sharpness, load_facts, measure


def test_there_are_enough_facts_and_each_is_well_formed():
    facts = load_facts()
    assert len(facts) >= 60
    assert len({fact.prompt for fact in facts}) == len(facts)
    for fact in facts:
        assert fact.prompt == fact.prompt.strip()
        assert fact.answer.strip()
        # A word begins with a space; only a number goes on where its first digits stand.
        assert fact.answer.startswith(" ") or fact.prompt[-1].isdigit()


def test_measuring_on_a_tiny_model(tiny_model):
    seen = []
    facts = [Fact("The cat", " sat"), Fact("The dog", " on"), Fact("1 2 3", " 4")]
    result = measure(
        tiny_model("llama"),
        facts,
        [0.0, 0.5, 1.0, 2.0],
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert result.mean_top[0] == 1.0
    assert list(result.mean_top) == sorted(result.mean_top, reverse=True)
    assert result.sampled_right[0] == pytest.approx(result.greedy_right)
    assert Sharpness.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_stopping_keeps_what_is_measured(tiny_model):
    done = []
    result = measure(
        tiny_model("llama"),
        load_facts(),
        [1.0],
        progress=lambda number, total: done.append(number),
        cancelled=lambda: len(done) == 2,
    )
    assert len(result.results) == 2


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
