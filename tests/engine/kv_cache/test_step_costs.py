"""With and without the cache: the same logits, timed side by side."""

import numpy as np
import pytest

from engine.basics.errors import EngineError
from engine.generation.loop import generate
from engine.kv_cache.step_costs import greedy_costs, step_costs
from engine.sampling.chain import SamplingSettings
from tests.tiny import FAMILIES

IDS = [7, 300, 12, 12, 45, 99, 7, 300]


@pytest.mark.parametrize("family", FAMILIES)
def test_both_ways_choose_the_same_tokens(tiny_model, family):
    model = tiny_model(family)
    prompt = [token.id for token in model.tokenizer.encode("The cat sat")]
    greedy = SamplingSettings(temperature=0)
    steps = list(generate(model, prompt, greedy, max_new_tokens=12, seed=0))
    costs = list(step_costs(model, prompt, [step.id for step in steps]))
    assert [cost.index for cost in costs] == list(range(len(steps)))
    assert [cost.tokens for cost in costs] == [len(prompt) + i for i in range(len(steps))]
    assert all(cost.same_choice and cost.difference < 1e-4 for cost in costs)
    assert [cost.best_id for cost in costs] == [step.id for step in steps]
    assert [cost.cache_bytes for cost in costs] == [step.cache_bytes for step in steps]
    assert all(cost.with_cache > 0 and cost.without_cache > 0 for cost in costs)


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_costs_are_those_of_the_answer_that_they_write(tiny_model, family):
    model = tiny_model(family)
    costs = list(greedy_costs(model, IDS, 12))
    assert [cost.tokens for cost in costs] == list(range(8, 20))
    assert all(cost.same_choice and cost.difference <= 1e-4 for cost in costs)
    assert all(cost.with_cache > 0 < cost.without_cache for cost in costs)
    again = list(step_costs(model, IDS, [cost.best_id for cost in costs]))
    assert [cost.best_id for cost in again] == [cost.best_id for cost in costs]
    steps = generate(model, IDS, SamplingSettings(temperature=0), max_new_tokens=12, seed=0)
    assert all(step.id == cost.best_id for step, cost in zip(steps, costs, strict=False))


def test_the_context_limit_ends_the_steps(tiny_model):
    model = tiny_model("llama")
    ids = np.resize(IDS, model.architecture.context - 1)
    assert len(list(greedy_costs(model, [int(i) for i in ids], 5))) == 2


def test_what_can_not_be_measured_is_said(tiny_model):
    model = tiny_model("llama")
    for costs in (greedy_costs, lambda *asked: step_costs(*asked[:2], IDS)):
        with pytest.raises(EngineError, match="type at least one character"):
            costs(model, [], 3)
        with pytest.raises(EngineError, match="token id"):
            costs(model, [10**6], 3)
    with pytest.raises(EngineError, match="at least 1 step, not 0"):
        greedy_costs(model, IDS, 0)
