"""The loop: answers that go on after a stop, and tokens that are taken by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.sampling.chain import SamplingSettings
from tests.engine.runs import END, WARM, ids_of, run
from tests.near import assert_best, assert_same_text

# --- answers that go on, and branches ------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 4, 9])
def test_a_run_that_goes_on_is_the_run_that_was_never_interrupted(tiny_model, cut):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    ids = ids_of(model, "The cat")
    whole = run(model, ids, WARM, max_new_tokens=12, seed=3)
    before = [step.id for step in whole[:cut]]
    rest = run(model, ids, WARM, max_new_tokens=12 - cut, seed=3, written=before)
    known, found = [*ids, *before], [step.id for step in rest]
    uniforms = [step.u for step in rest]
    assert_same_text(model, known, found, [step.id for step in whole[cut:]], WARM, uniforms)
    for step, expected in zip(rest, whole[cut:], strict=True):
        assert (step.index, step.u) == (expected.index, expected.u)
        if step.id != expected.id:
            break
        assert step.probability == pytest.approx(expected.probability, abs=1e-4)


def test_a_character_that_was_cut_by_a_branch_still_becomes_whole(scripted):
    model, prompt = scripted("🎉", END)
    emoji = ids_of(model, "🎉")
    rest = run(model, prompt, written=emoji[:2])
    assert "".join(step.text for step in rest) == "🎉"


def test_a_forced_token_is_taken_and_says_what_the_model_thought_of_it(tiny_model):
    model = tiny_model("llama")
    ids = ids_of(model, "The cat")
    free = run(model, ids, max_new_tokens=3)
    other = free[0].top_raw[4][0]
    steps = run(model, ids, max_new_tokens=3, forced=[other])
    assert [step.forced for step in steps] == [True, False, False]
    assert steps[0].id == other
    assert steps[0].raw_probability == pytest.approx(free[0].top_raw[4][1])
    assert steps[0].probability == 0  # greedy would never have drawn it
    assert steps[0].u == free[0].u
    with torch.inference_mode():
        logits = model.network(torch.tensor([[*ids, other]])).logits[0, -1]
    assert_best(steps[1].id, logits)


def test_a_forced_id_that_does_not_exist_is_named(tiny_model):
    with pytest.raises(EngineError, match="There is no token id 384"):
        run(tiny_model("llama"), [5], forced=[384])


def test_the_alternatives_hold_both_distributions_and_the_token_itself(tiny_model):
    model = tiny_model("llama")
    settings = SamplingSettings(temperature=3.0, logit_bias={300: 12.0})
    for step in run(model, ids_of(model, "The cat"), settings, seed=2):
        ids = [other.id for other in step.alternatives]
        assert len(set(ids)) == len(ids)
        assert step.id in ids
        assert 300 in ids
        assert [other.raw for other in step.alternatives[:10]] == sorted(
            (other.raw for other in step.alternatives[:10]), reverse=True
        )
        own = next(other for other in step.alternatives if other.id == step.id)
        assert (own.raw, own.final) == (step.raw_probability, step.probability)
        assert 0 < step.entropy_bits <= np.log2(model.architecture.vocabulary)
