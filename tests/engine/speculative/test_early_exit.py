"""A model cut short gives the same numbers however it is asked, and leaves the whole one alone."""

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.interpret.lens import lens
from engine.kv_cache.cached_pass import CachedPass
from engine.speculative.early_exit import early_exit
from engine.tracing.trace import trace
from tests.engine.plain import blocks_of, hooked
from tests.engine.runs import ids_of
from tests.tiny import FAMILIES, tiny_model, tiny_network

# Longer than the tiny models' sliding windows of 8.
IDS = [7, 300, 12, 12, 45, 99, 7, 300, 12, 200, 31, 8]
LAYERS = 4


@pytest.fixture(scope="module", params=FAMILIES)
def whole(request):
    return tiny_model(request.param, layers=LAYERS)


@pytest.mark.parametrize("layers", range(1, LAYERS + 1))
def test_trace_cached_pass_and_plain_pass_agree(whole, layers):
    """The reference is a network of so many layers that holds the same weights."""
    plain = tiny_network(whole.architecture.family, layers=layers)
    plain.load_state_dict(whole.network.state_dict(), strict=False)
    short = early_exit(whole, layers)
    with torch.inference_mode():
        row = torch.tensor([IDS])
        expected_TV = plain(input_ids=row).logits[0].numpy()
        own_TV = short.network(input_ids=row).logits[0].numpy()
    np.testing.assert_allclose(own_TV, expected_TV, rtol=0, atol=1e-4)

    traced, cached = trace(short, IDS), CachedPass(short)
    np.testing.assert_allclose(traced.logits, expected_TV[-1], rtol=0, atol=1e-4)
    for position, expected in enumerate(expected_TV):
        np.testing.assert_allclose(
            cached.advance(IDS[position : position + 1]), expected, rtol=0, atol=1e-4
        )
        np.testing.assert_allclose(traced.logits_at(position), expected, rtol=0, atol=1e-4)
        reading = lens(traced, layers, position, top=len(expected))
        np.testing.assert_allclose(reading.logits, expected[reading.ids], rtol=0, atol=1e-4)

    stream = hooked(plain, IDS, dict(enumerate(blocks_of(plain))))
    for layer, expected in stream.items():
        np.testing.assert_allclose(traced.resid_post[layer], expected, rtol=0, atol=1e-4)
    total = traced.embedded + traced.attn_out.sum(axis=0) + traced.mlp_out.sum(axis=0)
    np.testing.assert_allclose(total, stream[layers - 1], rtol=0, atol=1e-4)


def test_the_sites_of_an_early_exit_are_its_own_blocks(whole):
    short = early_exit(whole, 2)
    assert [site.block for site in short.sites.layers] == list(blocks_of(short.network))
    assert short.sites.final_norm in set(short.network.modules())
    assert len(whole.sites.layers) == LAYERS
    # No other way leads from a network to its sites.
    assert not any(value is whole.sites for value in vars(short.network).values())


@pytest.mark.parametrize("family", FAMILIES)
def test_an_early_exit_with_all_layers_is_the_model(family):
    model = tiny_model(family)
    ids = ids_of(model, "The cat sat on the mat")
    whole = early_exit(model, model.architecture.layers)
    expected = CachedPass(model).advance(ids)
    np.testing.assert_allclose(CachedPass(whole).advance(ids), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_early_exit_is_the_final_norm_and_head_after_n_blocks(family):
    model = tiny_model(family)
    ids = ids_of(model, "The cat sat on the mat")
    short = early_exit(model, 1)
    with torch.inference_mode():
        output = model.network(torch.tensor([ids]), output_hidden_states=True)
        after_one = output.hidden_states[1][0, -1]
        norm = model.network.base_model
        last = getattr(norm, "norm", None) or getattr(norm, "ln_f", None) or norm.final_layer_norm
        logits = model.network.get_output_embeddings()(last(after_one)).float()
        cap = getattr(model.network.config, "final_logit_softcapping", None)
        logits = torch.tanh(logits / cap) * cap if cap else logits
    np.testing.assert_allclose(CachedPass(short).advance(ids), logits.numpy(), rtol=0, atol=1e-4)


def test_an_early_exit_leaves_the_model_as_it_was():
    model = tiny_model("llama")
    ids = ids_of(model, "The cat")
    before = CachedPass(model).advance(ids)
    short = early_exit(model, 2)
    CachedPass(short).advance(ids)
    np.testing.assert_array_equal(CachedPass(model).advance(ids), before)
    assert model.network.config.num_hidden_layers == model.architecture.layers
    assert short.lock is model.lock
    weights = {parameter.data_ptr() for parameter in model.network.parameters()}
    assert {parameter.data_ptr() for parameter in short.network.parameters()} < weights


@pytest.mark.parametrize("layers", [0, 4])
def test_an_early_exit_that_cannot_be_is_named(layers):
    with pytest.raises(EngineError, match=f"1 to 3 layers, but {layers}"):
        early_exit(tiny_model("llama"), layers)
