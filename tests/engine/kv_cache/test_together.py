"""Who writes together: what the shared pass gives is what the network gives."""

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.kv_cache.cached_pass import CachedPass
from engine.kv_cache.together import together_with
from engine.speculative.early_exit import early_exit


def test_it_reads_as_the_network_does(tiny_model):
    """Prompts short and longer than one pass takes, with and without a cache before them."""
    model = tiny_model("llama")
    ids = np.random.default_rng(2).integers(0, 384, 200).tolist()
    reading = CachedPass(model)
    found = [reading.advance_many(ids[:130], 130), reading.advance_many(ids[130:], 70)]
    with torch.inference_mode():
        expected = model.network(torch.tensor([ids]), use_cache=False).logits[0].numpy()
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=0, atol=1e-4)


def test_ids_outside_the_vocabulary_are_refused_before_anybody_reads(tiny_model):
    model = tiny_model("llama")
    with pytest.raises(EngineError, match="no token id 384"):
        CachedPass(model).advance([3, 384])


def test_a_copy_of_a_network_reads_by_itself(tiny_model):
    model = tiny_model("llama")
    short = early_exit(model, 2)
    assert together_with(model) is together_with(model)
    assert together_with(short) is not together_with(model)
    assert together_with(tiny_model("gpt2")) is None
