"""Each edit against an implementation of its own: hooks, weights or inputs changed by the test."""

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.observe.edits import (
    KnockOutAttention,
    KnockOutHead,
    KnockOutMlp,
    PositionOff,
    ReplaceEmbedding,
)
from engine.tracing.trace import trace
from tests.engine.plain import PARTS, blocks_of
from tests.tiny import FAMILIES, tiny_model, tiny_network

IDS = [7, 300, 12, 12, 45, 99, 7, 300, 12, 200, 31, 8, 250, 7]


@pytest.fixture(scope="module", params=FAMILIES)
def pair(request):
    """A model of each family, and a fresh network of the same weights for the test to change."""
    return tiny_model(request.param), tiny_network(request.param)


def logits(network, ids=IDS, **arguments):
    with torch.inference_mode():
        return network(input_ids=torch.tensor([ids]), **arguments).logits[0, -1].numpy()


def logits_with_hook(network, name, hook, layer, *, before=False):
    module = blocks_of(network)[layer].get_submodule(name)
    register = module.register_forward_pre_hook if before else module.register_forward_hook
    handle = register(hook)
    try:
        return logits(network)
    finally:
        handle.remove()


def silence(_, args, output):
    if isinstance(output, tuple):
        return (torch.zeros_like(output[0]), *output[1:])
    return torch.zeros_like(output)


def test_a_knocked_out_head(pair):
    model, network = pair
    size, projection = model.architecture.head_size, PARTS[model.architecture.family][2]
    for layer, head in ((0, 0), (1, 3)):

        def cut(_, args, head=head):
            # The output projection reads the heads side by side, K numbers each.
            changed = args[0].clone()
            changed[..., head * size : (head + 1) * size] = 0
            return (changed,)

        expected = logits_with_hook(network, projection, cut, layer, before=True)
        edited = trace(model, IDS, edits=[KnockOutHead(layer, head)])
        np.testing.assert_allclose(edited.logits, expected, atol=1e-4)
        assert np.abs(edited.logits - trace(model, IDS).logits).max() > 1e-3


def test_a_knocked_out_attention(pair):
    model, network = pair
    name = PARTS[model.architecture.family][0]
    expected = logits_with_hook(network, name, silence, 1)
    edited = trace(model, IDS, edits=[KnockOutAttention(1)])
    np.testing.assert_allclose(edited.logits, expected, atol=1e-4)
    assert not edited.attn_out[1].any()
    np.testing.assert_array_equal(edited.resid_mid[1], edited.resid_pre[1])


def test_a_knocked_out_mlp(pair):
    model, network = pair
    expected = logits_with_hook(network, PARTS[model.architecture.family][1], silence, 0)
    edited = trace(model, IDS, edits=[KnockOutMlp(0)])
    np.testing.assert_allclose(edited.logits, expected, atol=1e-4)
    assert not edited.mlp_out[0].any()
    # The neurons work on; what they would add is thrown away.
    np.testing.assert_allclose(edited.neurons(0), trace(model, IDS).neurons(0), atol=1e-5)


def test_position_off(pair, monkeypatch):
    model, network = pair
    edited = trace(model, IDS, edits=[PositionOff()])
    if model.architecture.positions == "learned":
        table = network.transformer.wpe.weight
        with torch.no_grad():
            table.copy_(table[:1].expand_as(table).clone())
    else:
        # Rotation patched out of the modelling file: queries and keys go through as they are.
        module = __import__(type(network).__module__, fromlist=["apply_rotary_pos_emb"])
        monkeypatch.setattr(module, "apply_rotary_pos_emb", lambda q, k, *_, **__: (q, k))
    np.testing.assert_allclose(edited.logits, logits(network), atol=1e-4)
    for layer in range(model.architecture.layers):
        for found, raw in zip((edited.q, edited.k), edited.unrotated(layer), strict=True):
            np.testing.assert_allclose(found[layer], raw, atol=1e-5)


def test_a_replaced_embedding(pair):
    model, network = pair
    edited = trace(model, IDS, edits=[ReplaceEmbedding(3, 200)])
    ids = [*IDS[:3], 200, *IDS[4:]]
    np.testing.assert_allclose(edited.logits, logits(tiny_like(network, model), ids), atol=1e-4)
    assert edited.ids == tuple(IDS)


def tiny_like(network, model):
    """Return the weights that the model has, whatever an earlier test did to `network`."""
    network.load_state_dict(model.network.state_dict())
    return network


def test_edits_add_up(pair):
    model, network = pair
    attn_out, mlp_out, *_ = PARTS[model.architecture.family]
    block = blocks_of(tiny_like(network, model))[1]
    first = block.get_submodule(attn_out).register_forward_hook(silence)
    expected = logits_with_hook(network, mlp_out, silence, 0)
    first.remove()
    edited = trace(model, IDS, edits=[KnockOutAttention(1), KnockOutMlp(0)])
    np.testing.assert_allclose(edited.logits, expected, atol=1e-4)


def test_an_edited_pass_leaves_the_plain_one_as_it_was(pair):
    model, _ = pair
    edits = (KnockOutHead(0, 1), KnockOutAttention(1), KnockOutMlp(0), PositionOff())
    before = trace(model, IDS)
    kept = {n: getattr(before, n).copy() for n in ("attn_out", "mlp_out", "q", "k", "v", "logits")}
    edited = trace(model, IDS, edits=[*edits, ReplaceEmbedding(0, 9)])
    assert edited.edits == (*edits, ReplaceEmbedding(0, 9))
    after = trace(model, IDS)
    for name, array in kept.items():
        np.testing.assert_array_equal(getattr(before, name), array)
        np.testing.assert_array_equal(getattr(after, name), array)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (KnockOutHead(2, 0), "no layer 2: choose one from 0 to 1"),
        (KnockOutHead(0, 6), "no head 6: choose one from 0 to 5"),
        (KnockOutHead(0, -1), "no head -1"),
        (KnockOutAttention(-1), "no layer -1"),
        (KnockOutMlp(99), "no layer 99"),
        (KnockOutMlp("1"), "no layer '1'"),
        (ReplaceEmbedding(3, 0), "no position 3: choose one from 0 to 2"),
        (ReplaceEmbedding(0, 384), "no token id 384: choose one from 0 to 383"),
        ("knock out", "'knock out' is no edit"),
    ],
)
def test_an_edit_out_of_range_is_named(edit, message):
    model = tiny_model("llama", layers=2)
    with pytest.raises(EngineError, match=message):
        trace(model, [1, 2, 3], edits=[edit])
    assert not model.lock.locked()


@pytest.mark.real
def test_without_position_the_order_of_words_is_lost_and_with_it_is_not(real_model):
    """ "dog bites man." and "man bites dog.": what the full stop reads in the first layer."""
    dog, bites, man, stop = (
        real_model.tokenizer.encode(text)[0].id for text in (" dog", " bites", " man", ".")
    )
    orders = ([dog, bites, man, stop], [man, bites, dog, stop])

    def difference(edits):
        one, other = (trace(real_model, ids, edits=edits).attn_out[0, -1] for ids in orders)
        return np.abs(one - other).max(), np.linalg.norm(one - other) / np.linalg.norm(one)

    assert difference([PositionOff()])[0] <= 1e-6
    assert 0.03 < difference([])[1] < 0.12
