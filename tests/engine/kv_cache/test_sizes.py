"""The bytes of the KV cache: by formula, as measured, and as published."""

import pytest
import torch

from engine.kv_cache import sizes as kv_cache
from engine.kv_cache.step_costs import greedy_costs
from engine.model.model import LanguageModel
from tests.tiny import tiny_model, tiny_network, tiny_tokenizer

IDS = [7, 300, 12, 12, 45, 99, 7, 300]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("family", ["llama", "gpt2", "qwen3"])
def test_the_cache_has_the_size_that_the_formula_gives(family, dtype):
    network = tiny_network(family).to(getattr(torch, dtype))
    model = LanguageModel.wrap(network, tiny_tokenizer(), name="tiny")
    size = kv_cache.size_of(model)
    assert (size.dtype, size.bytes_per_number) == (dtype, 4 if dtype == "float32" else 2)
    for cost in greedy_costs(model, IDS, 3):
        assert cost.cache_bytes == size.per_token * cost.tokens


def test_the_cache_keeps_a_key_and_a_value_for_each_kv_head_and_token():
    # 3 layers; 2 key/value heads, or all 6 heads without sharing; 8 numbers of 4 bytes each.
    size = kv_cache.size_of(tiny_model("llama"))
    assert size.per_token == 2 * 3 * 2 * 8 * 4
    assert size.per_token_without_sharing == 2 * 3 * 6 * 8 * 4


def test_the_default_models_cache_by_formula_and_measured(real_model):
    # 30 layers × 3 key/value heads × 64 numbers × (key and value) × 4 bytes
    size = kv_cache.size_of(real_model)
    assert (size.per_token, size.per_token_without_sharing) == (46_080, 138_240)
    cost = next(greedy_costs(real_model, IDS, 1))
    assert cost.cache_bytes == 46_080 * len(IDS)
    assert size.dtype == "float32"


def test_well_known_models_keep_what_is_published():
    sizes = {size.name: size.per_token for size in kv_cache.KNOWN_MODELS}
    assert sizes["Llama 2 7B"] == 512 * 1024
    assert sizes["Llama 3 8B"] == 128 * 1024
    assert sizes["Llama 3 70B"] == 320 * 1024
