"""Rows of a batch against runs alone, and what a guard removes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.basics.errors import EngineError
from engine.generation.loop import generate
from engine.guardrails.batch import write_rows
from engine.sampling.chain import SamplingSettings
from tests.near import assert_same_text

SETTINGS = SamplingSettings(temperature=0.9, top_p=0.95)
SEEDS = (3, 4, 5, 6)


def written(model, guard=None, seeds=SEEDS, count=12):
    rows: list[list] = [[] for _ in seeds]
    for steps in write_rows(
        model, [70, 80, 90], SETTINGS, seeds=seeds, max_new_tokens=count, guard=guard
    ):
        for row, step in zip(rows, steps, strict=True):
            if step is not None:
                row.append(step)
    return rows


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma2", "gpt_neox"])
def test_each_row_writes_what_a_run_alone_writes(tiny_model, family):
    model = tiny_model(family)
    for seed, row in zip(SEEDS, written(model), strict=True):
        alone = list(generate(model, [70, 80, 90], SETTINGS, max_new_tokens=12, seed=seed))
        ids, expected = ([step.id for step in steps] for steps in (row, alone))
        u = [step.u for step in alone]
        assert_same_text(model, [70, 80, 90], ids, expected, SETTINGS, u)
        assert "".join(step.text for step in row) == model.tokenizer.decode(
            [step.id for step in row], skip_special=True
        )
        assert [step.last for step in row] == [False] * (len(row) - 1) + [True]
        assert [step.cut for step in row] == [
            step.last and step.id not in model.stop_ids for step in row
        ]


def test_a_guard_sees_what_its_row_has_written_and_removes_tokens(tiny_model):
    model = tiny_model("llama")
    vocabulary = model.architecture.vocabulary
    asked = []

    def only_even_after_odd(ids):
        asked.append(ids)
        allowed = np.ones(vocabulary, dtype=bool)
        if ids:
            allowed[np.arange(vocabulary) % 2 == ids[-1] % 2] = False
        return allowed

    row = written(model, only_even_after_odd, seeds=[0], count=20)[0]
    ids = [step.id for step in row]
    assert all(a % 2 != b % 2 for a, b in itertools.pairwise(ids))
    assert asked == [tuple(ids[:n]) for n in range(len(ids))]
    assert row[0].allowed == vocabulary
    assert row[0].forbidden_mass == 0
    assert row[1].allowed == vocabulary // 2
    assert 0 < row[1].forbidden_mass < 1


def test_a_row_that_has_ended_stays_silent_while_others_go_on(tiny_model):
    model = tiny_model("llama")
    end = min(model.stop_ids)

    def end_at_length(ids):
        allowed = np.ones(model.architecture.vocabulary, dtype=bool)
        allowed[end] = False
        if ids and ids[0] % 2:
            allowed[:] = False
            allowed[end] = True
        return allowed

    rows = written(model, end_at_length, seeds=tuple(range(12)), count=6)
    lengths = {len(row) for row in rows}
    assert lengths == {2, 6}
    assert all(row[-1].id == end and row[-1].data == b"" for row in rows if len(row) == 2)


def test_what_cannot_be_done_is_said(tiny_model):
    model = tiny_model("llama")
    with pytest.raises(EngineError, match="1 to 16 seeds"):
        write_rows(model, [1], SETTINGS, seeds=range(17), max_new_tokens=1)
    with pytest.raises(EngineError, match="no tokens to read"):
        write_rows(model, [], SETTINGS, seeds=[0], max_new_tokens=1)
    nothing = np.zeros(model.architecture.vocabulary, dtype=bool)
    with pytest.raises(EngineError, match="no token at all"):
        next(write_rows(model, [1], SETTINGS, seeds=[0], max_new_tokens=1, guard=lambda _: nothing))
    assert not model.lock.locked()
