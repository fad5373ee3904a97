"""What is replayed is the network's own, and the network is left as it was."""

import numpy as np
import pytest
import torch

from engine.tracing import replay
from engine.tracing.trace import trace
from tests.engine.observe.test_hooks import IDS, marks
from tests.engine.plain import blocks_of
from tests.tiny import FAMILIES, tiny_model, tiny_network

PROJECTIONS = {
    "gpt2": "attn.c_attn",
    "gpt_neox": "attention.query_key_value",
    "phi3": "self_attn.qkv_proj",
}


@pytest.fixture(scope="module", params=FAMILIES)
def traced(request):
    return trace(tiny_model(request.param), IDS)


def test_the_lm_head_reads_any_vectors_as_the_model_reads_its_last(traced):
    network = tiny_network(traced.architecture.family)
    hidden = np.random.default_rng(0).normal(size=(40, traced.architecture.width))
    hidden = hidden.astype(np.float32)
    normed, logits = replay.run_lm_head(traced.model, hidden)
    base = network.base_model
    norm = next(getattr(base, n) for n in ("norm", "ln_f", "final_layer_norm") if hasattr(base, n))
    with torch.inference_mode():
        expected_normed = norm(torch.tensor(hidden))
        expected = network.get_output_embeddings()(expected_normed)
        if traced.architecture.family == "gemma2":
            expected = 30.0 * torch.tanh(expected / 30.0)
    np.testing.assert_allclose(normed, expected_normed.numpy(), atol=1e-5)
    np.testing.assert_allclose(logits, expected.numpy(), atol=1e-4)


def test_unrotated_queries_are_the_projections_own(traced):
    family, network = traced.architecture.family, tiny_network(traced.architecture.family)
    a = traced.architecture
    for layer in range(a.layers):
        q, k = traced.unrotated(layer)
        attention = blocks_of(network)[layer]
        name = PROJECTIONS.get(family, "self_attn.q_proj")
        seen = []
        module = attention.get_submodule(name)
        # Qwen 3 puts a norm on each head's query behind the projection.
        module = attention.self_attn.q_norm if family == "qwen3" else module
        handle = module.register_forward_hook(lambda _, __, out, seen=seen: seen.append(out[0]))
        with torch.inference_mode():
            network(input_ids=torch.tensor([IDS]))
        handle.remove()
        raw = seen[0].numpy().reshape(len(IDS), -1)
        if family == "gpt_neox":  # each head's query, key and value lie side by side
            parts = raw.reshape(len(IDS), a.heads, 3, a.head_size)
            raw, raw_k = parts[:, :, 0], parts[:, :, 1]
            np.testing.assert_allclose(k, raw_k.transpose(1, 0, 2), atol=1e-5)
        size = a.heads * a.head_size
        raw = raw.reshape(len(IDS), -1)[:, :size].reshape(len(IDS), a.heads, a.head_size)
        np.testing.assert_allclose(q, raw.transpose(1, 0, 2), atol=1e-5)


def test_nothing_remains_after_a_replay_or_a_failed_one(traced):
    network = traced.model.network
    traced.unrotated(1), traced.neurons(1), traced.logits_at(0)
    before = marks(network)
    traced.unrotated(0), traced.neurons(0), traced.logits_at(1)
    assert marks(network) == before
    wrong = np.zeros((3, traced.architecture.width + 1), dtype=np.float32)
    for run in (replay.run_neurons, replay.run_unrotated):
        with pytest.raises((RuntimeError, ValueError)):
            run(traced.model, 1, wrong)
        assert marks(network) == before
    with pytest.raises((RuntimeError, ValueError)):
        replay.run_lm_head(traced.model, wrong)
    assert marks(network) == before
    assert not traced.model.lock.locked()
