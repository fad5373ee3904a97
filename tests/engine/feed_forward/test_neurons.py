"""Neurons with their steps, what they add and which tokens they push."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.feed_forward import neurons
from engine.tracing.trace import trace
from tests.engine.plain import PARTS, blocks_of
from tests.near import assert_ranking
from tests.tiny import FAMILIES, tiny_model

IDS = [7, 300, 12, 12, 45, 99, 31, 8, 250, 7]
GATED = {"llama", "qwen3", "gemma2", "mistral", "phi3"}


@pytest.fixture(scope="module", params=FAMILIES)
def traced(request):
    return trace(tiny_model(request.param), IDS)


def last_matrix(traced, layer):
    name = PARTS[traced.architecture.family][3]
    return blocks_of(traced.model.network)[layer].get_submodule(name)


def last_weight(traced, layer):
    """Return the last matrix as `[F, D]`; only GPT-2 stores it like this."""
    weight = last_matrix(traced, layer).weight.detach().numpy()
    return weight if traced.architecture.family == "gpt2" else weight.T


def activation(traced, numbers):
    """Apply the family's activation function, written out."""
    x = torch.tensor(numbers, dtype=torch.float64)
    name = traced.architecture.activation
    if name == "silu":
        result = x * torch.sigmoid(x)
    elif name in ("gelu_new", "gelu_pytorch_tanh"):
        result = 0.5 * x * (1 + torch.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))
    else:
        assert name == "gelu"
        result = 0.5 * x * (1 + torch.erf(x / 2**0.5))
    return result.numpy()


def test_the_steps_lead_to_the_neurons(traced):
    for layer in range(traced.architecture.layers):
        found = neurons.token_neurons(traced, layer, 4)
        np.testing.assert_allclose(found.activated, activation(traced, found.gate), atol=1e-5)
        assert (found.up is not None) == (traced.architecture.family in GATED)
        assert traced.architecture.gated == (found.up is not None)
        product = found.activated if found.up is None else found.activated * found.up
        np.testing.assert_allclose(found.neurons, product, atol=1e-5)
        np.testing.assert_allclose(found.neurons, traced.neurons(layer)[4], atol=1e-4)
        assert found.neurons.shape == (traced.architecture.ff_width,)


def test_gate_and_up_are_not_swapped():
    traced = trace(tiny_model("llama"), IDS)
    mlp, norm = (
        traced.model.network.model.layers[1].get_submodule(n)
        for n in ("mlp", "post_attention_layernorm")
    )
    found = neurons.token_neurons(traced, 1, 6)
    with torch.inference_mode():
        read = norm(torch.tensor(traced.resid_mid[1][6]))
        np.testing.assert_allclose(found.gate, mlp.gate_proj(read).numpy(), atol=1e-5)
        np.testing.assert_allclose(found.up, mlp.up_proj(read).numpy(), atol=1e-5)


def test_the_neurons_rows_sum_to_what_is_added(traced):
    for layer in range(traced.architecture.layers):
        found, rows = neurons.token_neurons(traced, layer, -1), last_weight(traced, layer)
        added = sum(neuron * row for neuron, row in zip(found.neurons, rows, strict=True))
        bias = last_matrix(traced, layer).bias if _has_bias(traced, layer) else None
        added = added if bias is None else added + bias.detach().numpy()
        np.testing.assert_allclose(found.added, added, atol=1e-4)
        if traced.architecture.family != "gemma2":  # it puts a norm behind
            np.testing.assert_allclose(found.added, traced.mlp_out[layer, -1], atol=1e-4)


def _has_bias(traced, layer):
    return getattr(last_matrix(traced, layer), "bias", None) is not None


def test_the_strongest_neurons_add_the_longest_vectors(traced):
    found, rows = neurons.token_neurons(traced, 1, 2), last_weight(traced, 1)
    lengths = [np.linalg.norm(n * row) for n, row in zip(found.neurons, rows, strict=True)]
    np.testing.assert_allclose(found.strength, lengths, atol=1e-5)
    expected = sorted(range(len(lengths)), key=lambda i: -found.strength[i])[:7]
    assert neurons.strongest(found, 7).tolist() == expected


def test_a_neurons_row_pushes_tokens_up_and_down(traced):
    head = traced.model.network.get_output_embeddings().weight.detach().numpy()
    scores = head @ last_weight(traced, 1)[5]
    found = neurons.neuron_tokens(traced.model, 1, 5, 6)
    order = np.argsort(-scores)
    assert_ranking(found.up_ids, scores, near=1e-5)
    assert_ranking(found.down_ids, -scores, near=1e-5)
    np.testing.assert_allclose(found.up_scores, scores[order[:6]], atol=1e-5)
    np.testing.assert_allclose(found.down_scores, scores[order[::-1][:6]], atol=1e-5)


def test_norms_by_layer_and_token(traced):
    found = neurons.residual_norms(traced)
    layers = traced.architecture.layers
    assert found.stream.shape == (layers + 1, len(IDS))
    for layer in range(layers):
        vector = traced.resid_pre[layer][3].astype(np.float64)
        assert found.stream[layer, 3] == pytest.approx(np.sqrt((vector**2).sum()), rel=1e-5)
        vector = traced.mlp_out[layer, 3].astype(np.float64)
        assert found.mlp_out[layer, 3] == pytest.approx(np.sqrt((vector**2).sum()), rel=1e-5)
        vector = traced.attn_out[layer, 3].astype(np.float64)
        assert found.attn_out[layer, 3] == pytest.approx(np.sqrt((vector**2).sum()), rel=1e-5)
    last = np.linalg.norm(traced.resid_post[-1], axis=-1)
    np.testing.assert_allclose(found.stream[-1], last, rtol=1e-5)


def test_cosines_between_the_layers_of_one_token(traced):
    found = neurons.layer_cosines(traced, 2)
    vectors = [resid_pre[2] for resid_pre in traced.resid_pre] + [traced.resid_post[-1][2]]
    for i, a in enumerate(vectors):
        for j, b in enumerate(vectors):
            expected = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
            assert found[i, j] == pytest.approx(float(expected), abs=1e-5)


def test_what_does_not_exist_is_named():
    traced = trace(tiny_model("llama", layers=2), IDS)
    with pytest.raises(EngineError, match="no layer 2: choose one from 0 to 1"):
        neurons.token_neurons(traced, 2, 0)
    with pytest.raises(EngineError, match="no position 10"):
        neurons.token_neurons(traced, 0, 10)
    with pytest.raises(EngineError, match="no neuron 96: choose one from 0 to 95"):
        neurons.neuron_tokens(traced.model, 0, 96)


@pytest.mark.real
def test_the_norm_of_the_first_tokens_stream_jumps(real_model):
    """The default model parks a huge vector on the first token in the middle of the stack."""
    traced = trace(real_model, [4898, 314, 260, 6376, 4461, 47])
    stream = neurons.residual_norms(traced).stream
    assert stream[:, 0].max() > 10_000
    assert stream[:, 1:].max() < 5_000
    found = neurons.token_neurons(traced, 12, 3)
    expected = traced.mlp_out[12, 3]
    np.testing.assert_allclose(found.added, expected, atol=1e-3 * np.abs(expected).max())


def test_several_rows_are_read_as_one_is():
    model = tiny_model("llama")
    together = neurons.neurons_tokens(model, 1, [3, 0, 7], n=4)
    for neuron, found in zip((3, 0, 7), together, strict=True):
        single = neurons.neuron_tokens(model, 1, neuron, n=4)
        np.testing.assert_allclose(found.up_scores, single.up_scores, atol=1e-5)
        np.testing.assert_allclose(found.down_scores, single.down_scores, atol=1e-5)


def test_half_of_the_work_is_counted_from_the_strongest():
    strength = np.array([1.0, 3.0, 1.0, 2.0])  # squares 9, 4, 1, 1: half is 7.5
    assert neurons.half_of_the_work(SimpleNamespace(strength=strength)) == 1
    assert neurons.half_of_the_work(SimpleNamespace(strength=np.ones(5))) == 3
