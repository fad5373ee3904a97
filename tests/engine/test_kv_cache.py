"""With and without the cache: the same logits; and the bytes, measured and by formula."""

import numpy as np
import pytest

from engine import kv_cache
from engine.errors import EngineError
from tests.tiny import FAMILIES, tiny_model

IDS = [7, 300, 12, 12, 45, 99, 7, 300]


@pytest.mark.parametrize("family", FAMILIES)
def test_both_ways_give_the_same_logits_and_tokens(family):
    model = tiny_model(family)
    steps = list(kv_cache.compare(model, IDS, 12))
    assert [step.context for step in steps] == list(range(8, 20))
    for step in steps:
        assert step.difference <= 1e-4
        assert step.cached_id == step.plain_id
        assert step.cached_ms > 0 < step.plain_ms


@pytest.mark.parametrize("family", ["llama", "gpt2", "qwen3"])
def test_the_cache_has_the_size_that_the_formula_gives(family):
    model = tiny_model(family)
    size = kv_cache.size_of(model.architecture, "tiny")
    for step in kv_cache.compare(model, IDS, 3):
        assert step.cache_bytes == size.per_token * step.context


def test_the_default_models_cache_by_formula_and_measured(real_model):
    size = kv_cache.size_of(real_model.architecture, real_model.name)
    assert (size.per_token, size.per_token_without_sharing) == (46_080, 138_240)
    step = next(kv_cache.compare(real_model, IDS, 1))
    assert step.cache_bytes == 46_080 * len(IDS)


def test_well_known_models_keep_what_is_published():
    sizes = {size.name: size.per_token for size in kv_cache.KNOWN_MODELS}
    assert sizes["Llama 2 7B"] == 512 * 1024
    assert sizes["Llama 3 8B"] == 128 * 1024
    assert sizes["Llama 3 70B"] == 320 * 1024


def test_the_context_limit_ends_the_steps():
    model = tiny_model("llama")
    ids = np.resize(IDS, model.architecture.context - 1)
    assert len(list(kv_cache.compare(model, [int(i) for i in ids], 5))) == 2


def test_what_can_not_be_compared_is_said():
    model = tiny_model("llama")
    with pytest.raises(EngineError, match="type at least one character"):
        kv_cache.compare(model, [], 3)
    with pytest.raises(EngineError, match="at least 1 step, not 0"):
        kv_cache.compare(model, IDS, 0)
