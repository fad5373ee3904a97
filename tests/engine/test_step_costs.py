"""With and without the cache: the same logits, timed side by side."""

import pytest

from engine.generate import generate
from engine.sampling import SamplingSettings
from engine.step_costs import step_costs
from tests.tiny import FAMILIES


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
    assert [cost.cache_bytes for cost in costs] == [step.cache_bytes for step in steps]
    assert all(cost.with_cache > 0 and cost.without_cache > 0 for cost in costs)
