"""The tiny transformer learns, is seeded, and can be looked into like any model."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.tracing.trace import trace
from engine.training import from_nothing as tiny

TEXT = "The cat sat on the mat. " * 12


def test_a_character_is_a_token_and_comes_back():
    tokenizer = tiny.character_tokenizer(tiny.rhymes())
    tokens = tokenizer.encode("Little Jack\n")
    assert [token.data for token in tokens] == [char.encode() for char in "Little Jack\n"]
    assert tokenizer.decode([token.id for token in tokens]) == "Little Jack\n"
    assert tiny.rhymes().isascii()


@pytest.mark.slow
def test_it_starts_at_chance_and_learns():
    states = list(tiny.train(TEXT, steps=60, seed=1))
    characters = len(set(TEXT))
    assert states[0].loss == pytest.approx(math.log(characters), abs=0.15)
    assert states[-1].loss < 1.2 < states[0].loss
    assert [state.step for state in states if state.sample is not None] == [0, 10, 60]
    assert states[0].sample != states[-1].sample
    parameters = states[0].model.architecture.parameters
    assert 90_000 < parameters < 1_000_000


def test_the_same_seed_gives_the_same_run_and_touches_nobodys_random_numbers():
    before = torch.random.get_rng_state()
    losses = [[state.loss for state in tiny.train(TEXT, steps=5, seed=7)] for _ in range(2)]
    assert losses[0] == losses[1]
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_snapshot_stays_as_it_is_and_can_be_traced():
    run = tiny.train(TEXT, steps=12)
    first = next(run).model
    ids = [token.id for token in first.tokenizer.encode("The cat sat")]
    logits = trace(first, ids).logits
    last = list(run)[-1].model
    assert np.array_equal(trace(first, ids).logits, logits)
    seen = trace(last, ids)
    assert not np.allclose(seen.logits, logits)
    assert seen.pattern(1).shape == (4, len(ids), len(ids))
    assert seen.pattern(1).sum(-1) == pytest.approx(1, abs=1e-5)


def test_what_cannot_be_trained_is_said():
    with pytest.raises(EngineError, match="at least 66 characters"):
        tiny.train("short")
    with pytest.raises(EngineError, match="1 to 1000"):
        tiny.train(TEXT, steps=0)
