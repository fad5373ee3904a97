"""Positions: the sinusoidal formula and a model's own learned table."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.basics.errors import EngineError
from engine.embedding import positions
from engine.tracing.trace import trace


def test_sinusoidal_entries_follow_the_formula():
    table = positions.sinusoidal(range(50), 16)
    assert table.shape == (50, 16)
    for position in (0, 1, 7, 49):
        for pair in range(8):
            angle = position / 10_000 ** (2 * pair / 16)
            assert table[position, 2 * pair] == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * pair + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_an_odd_width_ends_in_a_sine():
    assert positions.sinusoidal([3], 5).shape == (1, 5)


def test_learned_rows_are_what_the_model_adds_to_the_embedding(tiny_model):
    model = tiny_model("gpt2")
    ids = [7, 30, 12, 7]
    table = model.network.get_input_embeddings().weight.detach().numpy()
    rows = positions.learned_rows(model, range(len(ids)))
    np.testing.assert_allclose(trace(model, ids).embedded, table[ids] + rows, atol=1e-5)


def test_past_the_last_row_there_is_none(tiny_model):
    model = tiny_model("gpt2")
    positions.learned_rows(model, [511])
    with pytest.raises(EngineError, match="position"):
        positions.learned_rows(model, [512])


def test_a_model_without_a_table_is_named(tiny_model):
    with pytest.raises(EngineError, match="tiny-llama"):
        positions.learned_rows(tiny_model("llama"), [0])
