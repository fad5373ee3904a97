"""The bytes of the KV cache: by formula, as measured, and as published."""

import pytest

from engine import kv_cache
from engine.step_costs import greedy_costs
from tests.tiny import tiny_model

IDS = [7, 300, 12, 12, 45, 99, 7, 300]


@pytest.mark.parametrize("family", ["llama", "gpt2", "qwen3"])
def test_the_cache_has_the_size_that_the_formula_gives(family):
    model = tiny_model(family)
    size = kv_cache.size_of(model.architecture, "tiny")
    for cost in greedy_costs(model, IDS, 3):
        assert cost.cache_bytes == size.per_token * cost.tokens


def test_the_default_models_cache_by_formula_and_measured(real_model):
    size = kv_cache.size_of(real_model.architecture, real_model.name)
    assert (size.per_token, size.per_token_without_sharing) == (46_080, 138_240)
    cost = next(greedy_costs(real_model, IDS, 1))
    assert cost.cache_bytes == 46_080 * len(IDS)


def test_well_known_models_keep_what_is_published():
    sizes = {size.name: size.per_token for size in kv_cache.KNOWN_MODELS}
    assert sizes["Llama 2 7B"] == 512 * 1024
    assert sizes["Llama 3 8B"] == 128 * 1024
    assert sizes["Llama 3 70B"] == 320 * 1024
