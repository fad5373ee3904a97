"""A trace tells the truth: every number against the plain model or an implementation of its own."""

import copy
import gc
import json
import resource
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from engine.basics.errors import EngineError
from engine.interpret.lens import lens
from engine.model.model import LanguageModel
from engine.network.few_rows import use_stock_linear
from engine.tracing.trace import trace
from tests.engine.plain import PARTS, blocks_of, hooked
from tests.near import assert_ranking
from tests.tiny import FAMILIES, tiny_model, tiny_network, tiny_tokenizer

CASES = Path(__file__).parents[2] / "data" / "cases" / "logits.json"
# Longer than the tiny models' sliding windows of 8.
IDS = [7, 300, 12, 12, 45, 99, 7, 300, 12, 200, 31, 8, 250, 7, 7, 61, 380, 3, 2, 1]


@pytest.fixture(scope="module", params=FAMILIES)
def pair(request):
    """A model of each family, and a network of the same weights that nobody watches."""
    return tiny_model(request.param), tiny_network(request.param)


@pytest.fixture(scope="module")
def traced(pair):
    return trace(pair[0], IDS)


@pytest.fixture(scope="module")
def eager(pair):
    with torch.inference_mode():
        return pair[1](
            input_ids=torch.tensor([IDS]), output_attentions=True, output_hidden_states=True
        )


def test_logits_equal_the_unhooked_models(traced, eager):
    np.testing.assert_allclose(traced.logits, eager.logits[0, -1].numpy(), atol=1e-4, rtol=0)


def test_logits_at_every_position_equal_the_unhooked_models(traced, eager):
    for position in (0, 1, 7, 18, 19, -1, -20):
        expected = eager.logits[0, position].numpy()
        np.testing.assert_allclose(traced.logits_at(position), expected, atol=1e-4, rtol=0)


def test_patterns_equal_the_eager_models(traced, eager):
    for layer, expected in enumerate(eager.attentions):
        np.testing.assert_allclose(traced.pattern(layer), expected[0].numpy(), atol=1e-5, rtol=0)


def test_pattern_rows_sum_to_one_and_nothing_reads_ahead(traced):
    for layer in range(traced.architecture.layers):
        pattern = traced.pattern(layer)
        np.testing.assert_allclose(pattern.sum(axis=-1), 1.0, atol=1e-5)
        assert (pattern[:, ~np.tri(len(IDS), dtype=bool)] == 0).all()


def test_scores_are_what_the_softmax_gets(traced):
    for layer in range(traced.architecture.layers):
        scores = traced.scores(layer)
        heads, groups = traced.architecture.heads, traced.architecture.kv_heads
        for head in range(heads):  # one head at a time, with its own key/value head
            raw = traced.q[layer, head] @ traced.k[layer, head // (heads // groups)].T
            raw = raw * traced.scales[layer]
            if traced.softcaps[layer]:
                raw = traced.softcaps[layer] * np.tanh(raw / traced.softcaps[layer])
            seen = traced.masks[layer]
            np.testing.assert_allclose(scores[head][seen], raw[seen], atol=1e-5)
            assert np.isneginf(scores[head][~seen]).all()


def test_the_residual_stream_equals_the_hidden_states(traced, eager, pair):
    # transformers gives the last of its hidden states after the final norm, the others before.
    for layer, expected in enumerate(eager.hidden_states[:-1]):
        np.testing.assert_allclose(traced.resid_pre[layer], expected[0].numpy(), atol=1e-4)
    last = hooked(pair[1], IDS, {"last": blocks_of(pair[1])[-1]})["last"]
    np.testing.assert_allclose(traced.resid_post[-1], last, atol=1e-4)


def test_the_residual_stream_is_a_sum_of_its_parts(traced):
    for layer in range(traced.architecture.layers):
        mid = traced.resid_pre[layer] + traced.attn_out[layer]
        post = mid + traced.mlp_out[layer]
        np.testing.assert_allclose(traced.resid_mid[layer], mid, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(traced.resid_post[layer], post, rtol=1e-6, atol=1e-6)
        if layer:
            below = traced.resid_post[layer - 1]
            np.testing.assert_allclose(traced.resid_pre[layer], below, rtol=1e-6, atol=1e-6)


def test_every_way_to_read_the_residual_stream_agrees(traced):
    for stream in (traced.resid_pre, traced.resid_mid, traced.resid_post):
        every = list(stream)
        assert len(stream) == len(every) == traced.architecture.layers
        for layer, whole in enumerate(every):
            close = partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-6)
            close(stream[layer], whole)
            close(stream[layer - len(every)], whole)
            close(stream.at(-2)[layer], whole[-2])
        with pytest.raises(IndexError, match="There is no layer"):
            stream[len(every)]


def test_sub_block_outputs_equal_plain_hooks(traced, pair):
    attn_out, mlp_out, *_ = PARTS[traced.architecture.family]
    for layer, block in enumerate(blocks_of(pair[1])):
        modules = {name: block.get_submodule(name) for name in (attn_out, mlp_out)}
        seen = hooked(pair[1], IDS, modules)
        np.testing.assert_allclose(traced.attn_out[layer], seen[attn_out], atol=1e-5)
        np.testing.assert_allclose(traced.mlp_out[layer], seen[mlp_out], atol=1e-5)


def test_neurons_are_the_input_of_the_last_matrix(traced, pair):
    for layer, block in enumerate(blocks_of(pair[1])):
        matrix = block.get_submodule(PARTS[traced.architecture.family][3])
        seen = []
        handle = matrix.register_forward_pre_hook(
            lambda _, args, seen=seen: seen.append(args[0][0].numpy())
        )
        with torch.inference_mode():
            pair[1](input_ids=torch.tensor([IDS]))
        handle.remove()
        np.testing.assert_allclose(traced.neurons(layer), seen[0], atol=1e-4)


def test_values_are_the_ones_that_attention_mixes(traced, pair):
    """`pattern @ v`, through the output projection, is what attention adds."""
    heads, groups = traced.architecture.heads, traced.architecture.kv_heads
    attn_out, _, projection, _ = PARTS[traced.architecture.family]
    for layer, block in enumerate(blocks_of(pair[1])):
        v = np.stack([traced.v[layer, h // (heads // groups)] for h in range(heads)])
        mixed = (traced.pattern(layer) @ v).transpose(1, 0, 2).reshape(len(IDS), -1)
        with torch.inference_mode():
            added = block.get_submodule(projection)(torch.tensor(mixed))
            if "norm" in attn_out:
                added = block.get_submodule(attn_out)(added)
        np.testing.assert_allclose(traced.attn_out[layer], added.numpy(), atol=1e-5)


def test_everything_is_float32_and_read_only(traced):
    arrays = [getattr(traced, n) for n in ("embedded", "attn_out", "mlp_out", "q", "k", "v")]
    arrays += [traced.logits, traced.logits_at(0), traced.scores(0), traced.pattern(0)]
    arrays += [traced.neurons(0), *traced.unrotated(0), traced.resid_mid[1], traced.resid_pre.at(0)]
    for array in arrays:
        assert array.dtype == np.float32
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    a = traced.architecture
    assert traced.q.shape == (a.layers, a.heads, len(IDS), a.head_size)
    assert traced.k.shape == traced.v.shape == (a.layers, a.kv_heads, len(IDS), a.head_size)


def test_two_traces_are_bit_for_bit_the_same(traced, pair):
    again = trace(pair[0], IDS)
    for name in ("embedded", "attn_out", "mlp_out", "q", "k", "v", "logits"):
        np.testing.assert_array_equal(getattr(again, name), getattr(traced, name))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_network_in_bfloat16_is_shown_in_float32(family):
    """Against the same rounded weights in float32: bfloat16 keeps 8 bits of every number."""
    network = tiny_network(family).to(torch.bfloat16)
    exact = copy.deepcopy(network).float()
    model = LanguageModel.wrap(network, tiny_tokenizer(), name="half")
    assert next(model.network.parameters()).dtype == torch.bfloat16
    with torch.inference_mode():
        expected_TV = exact(input_ids=torch.tensor([IDS])).logits[0].numpy()
    last = hooked(exact, IDS, {"last": blocks_of(exact)[-1]})["last"]
    traced = trace(model, IDS)
    for name in ("embedded", "attn_out", "mlp_out", "q", "k", "v", "logits"):
        assert getattr(traced, name).dtype == np.float32
    for found, expected in (
        (traced.logits, expected_TV[-1]),
        (traced.logits_at(3), expected_TV[3]),
        (lens(traced, traced.architecture.layers, -1, top=384).logits, -np.sort(-expected_TV[-1])),
        (traced.resid_post[-1], last),
    ):
        assert np.abs(found - expected).max() <= 0.05 * np.abs(expected).max()
    np.testing.assert_allclose(traced.pattern(0).sum(axis=-1), 1.0, atol=1e-5)


def test_one_token_is_enough(pair):
    one = trace(pair[0], [5])
    with torch.inference_mode():
        expected = pair[1](input_ids=torch.tensor([[5]])).logits[0, 0].numpy()
    np.testing.assert_allclose(one.logits, expected, atol=1e-4)
    np.testing.assert_array_equal(one.pattern(0), 1.0)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([], r"no tokens .* type at least one character"),
        ([3, 384], "no token id 384: choose one from 0 to 383"),
        ([-1], "no token id -1"),
        (["cat"], "no token id 'cat'"),
        ([2.5], "no token id 2.5"),
        ([1] * 513, "has 513 tokens and the model takes 512 at most: shorten"),
    ],
)
def test_bad_ids_are_named(ids, message):
    with pytest.raises(EngineError, match=message):
        trace(tiny_model("llama", layers=2), ids)


@pytest.mark.parametrize("ask", ["scores", "pattern", "neurons", "unrotated", "logits_at"])
def test_what_does_not_exist_is_named(ask):
    traced = trace(tiny_model("llama", layers=2), [1, 2, 3])
    with pytest.raises(EngineError, match=r"There is no (layer|position) 3: choose one from 0 to"):
        getattr(traced, ask)(3)


@pytest.mark.slow
def test_fifty_traces_leave_the_process_no_larger_than_the_first_few():
    config = transformers.LlamaConfig(
        vocab_size=384,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=8,
        num_attention_heads=8,
        num_key_value_heads=4,
        bos_token_id=0,
        eos_token_id=2,
    )
    network = transformers.LlamaForCausalLM(config)
    model = LanguageModel.wrap(network, tiny_tokenizer(), name="middling")
    ids = list(range(64))

    def look():
        traced = trace(model, ids)
        traced.pattern(0), traced.neurons(0), traced.unrotated(0), traced.logits_at(0)
        return traced.nbytes

    size = [look() for _ in range(8)][-1]
    before = resident()
    for _ in range(42):
        look()
    # A trace of 2 MB kept at each pass would be 91 MB.
    assert size > 2e6
    assert resident() - before < 4 * size


def resident():
    """Return the memory that this process takes, in bytes."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.real
class TestOnTheDefaultModel:
    def test_logits_equal_llama_cpps(self, real_model):
        cases = json.loads(CASES.read_text())["cases"]
        assert len(cases) >= 8
        for case in cases:
            logits = trace(real_model, case["ids"]).logits
            ids, expected = zip(*case["top"], strict=True)
            np.testing.assert_allclose(logits[list(ids)], expected, atol=1e-3, rtol=0)
            assert_ranking(ids[:3], logits)

    def test_logits_and_patterns_equal_the_unhooked_models(self, real_model, plain_network):
        ids = [4898, 314, 260, 6376, 4461, 47]
        with torch.inference_mode():
            eager = plain_network(input_ids=torch.tensor([ids]), output_attentions=True)
        traced = trace(real_model, ids)
        np.testing.assert_allclose(traced.logits, eager.logits[0, -1].numpy(), atol=1e-4, rtol=0)
        for layer, expected in enumerate(eager.attentions):
            pattern = traced.pattern(layer)
            np.testing.assert_allclose(pattern, expected[0].numpy(), atol=1e-4)
            np.testing.assert_allclose(pattern.sum(axis=-1), 1.0, atol=1e-5)
            assert (pattern[:, ~np.tri(6, dtype=bool)] == 0).all()

    def test_the_residual_stream_equals_plain_hooks(self, real_model, plain_network):
        ids = [504, 3575, 282, 4649, 314]
        blocks = dict(enumerate(plain_network.model.layers))
        seen, traced = hooked(plain_network, ids, blocks), trace(real_model, ids)
        for layer, expected in seen.items():
            # The stream's largest number is 20,000: relative to each layer's own.
            scale = np.abs(expected).max()
            assert np.abs(traced.resid_post[layer] - expected).max() <= 1e-5 * scale

    def test_a_trace_of_256_tokens_takes_80_megabytes_at_most(self, real_model):
        traced = trace(real_model, range(100, 356))
        assert 40e6 < traced.nbytes <= 80e6


@pytest.fixture(scope="module")
def plain_network(real_model):
    """The default model's weights in a network that nobody watches."""
    network = copy.deepcopy(real_model.network)
    use_stock_linear(network)
    network.set_attn_implementation("eager")
    return network
