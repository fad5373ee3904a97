"""The measurement of sharpness on tiny models."""

import json

import pytest

from engine.generation.sharpness import measure
from engine.sampling.sharpness import Fact, Sharpness, load_facts


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
