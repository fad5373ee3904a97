"""Rotation: the naive formula, transformers' own function and the traced queries agree."""

import math

import numpy as np
import pytest
import torch
import transformers
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from engine import rope
from engine.edits import PositionOff
from engine.errors import EngineError
from engine.model import LanguageModel
from engine.trace import trace
from tests.tiny import FAMILIES, tiny_model, tiny_tokenizer

IDS = [7, 300, 12, 12, 45, 99, 31, 8, 250, 7]
WITH_ROPE = [family for family in FAMILIES if family != "gpt2"]


def naive(vector, position, theta, rotated):
    """Turn entries (i, i + R/2) by `position · theta^(-2i/R)`, one pair at a time."""
    out = [float(x) for x in vector]
    for i in range(rotated // 2):
        angle = position * theta ** (-2 * i / rotated)
        x, y = float(vector[i]), float(vector[i + rotated // 2])
        out[i] = x * math.cos(angle) - y * math.sin(angle)
        out[i + rotated // 2] = x * math.sin(angle) + y * math.cos(angle)
    return out


@pytest.mark.parametrize("family", WITH_ROPE)
def test_traced_queries_and_keys_are_the_raw_ones_rotated(family):
    traced = trace(tiny_model(family), IDS)
    theta, rotated = traced.architecture.rope_theta, 2 * len(rope.speeds(traced.model))
    for layer in range(traced.architecture.layers):
        raw_q, raw_k = traced.unrotated(layer)
        for raw, used in ((raw_q, traced.q[layer]), (raw_k, traced.k[layer])):
            for head in range(len(raw)):
                for position in range(len(IDS)):
                    expected = naive(raw[head, position], position, theta, rotated)
                    np.testing.assert_allclose(used[head, position], expected, atol=1e-4)


def test_a_part_of_each_head_is_rotated_in_gpt_neox():
    model = tiny_model("gpt_neox")
    assert model.architecture.head_size == 8
    part = model.network.config.rope_parameters.get("partial_rotary_factor", 1.0)
    assert 2 * len(rope.speeds(model)) == int(8 * part)


def test_rotation_equals_transformers():
    model = tiny_model("llama")
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(1, 6, 10, 8, generator=generator)
    k = torch.randn(1, 2, 10, 8, generator=generator)
    cos, sin = model.network.model.rotary_emb(q, torch.arange(10)[None])
    expected_q, expected_k = apply_rotary_pos_emb(q, k, cos, sin)
    angles = rope.angles(model, range(10))
    for raw, expected in ((q, expected_q), (k, expected_k)):
        found = rope.rotate(raw[0].numpy(), angles)
        np.testing.assert_allclose(found, expected[0].numpy(), atol=1e-5)


def test_angles_speeds_and_wavelengths():
    model = tiny_model("llama")
    theta, size = model.architecture.rope_theta, model.architecture.head_size
    speeds = [theta ** (-2 * i / size) for i in range(size // 2)]
    np.testing.assert_allclose(rope.speeds(model), speeds, rtol=1e-5)
    np.testing.assert_allclose(rope.wavelengths(model), 2 * np.pi / np.array(speeds), rtol=1e-5)
    found = rope.angles(model, [0, 5, 200])
    np.testing.assert_allclose(found, np.outer([0, 5, 200], speeds), rtol=1e-5)
    assert found.dtype == np.float32


def test_neighbours_are_turned_together_where_that_is_asked():
    vector = np.array([1, 0, 0, 2, 5], dtype=np.float32)
    turned = rope.rotate(vector, np.array([np.pi / 2, np.pi]), "neighbours")
    np.testing.assert_allclose(turned, [0, 1, 0, -2, 5], atol=1e-6)
    turned = rope.rotate(vector, np.array([np.pi / 2, np.pi]), "halves")
    np.testing.assert_allclose(turned, [0, 0, 1, -2, 5], atol=1e-6)


def test_the_score_depends_on_the_distance_alone():
    random = np.random.default_rng(4)
    q, k = random.normal(size=(2, 16)).astype(np.float32)
    speeds = 100.0 ** (-np.arange(8) / 8)
    dots = [
        float(rope.rotate(q, (start + 3) * speeds) @ rope.rotate(k, start * speeds))
        for start in (0, 1, 50, 400)
    ]
    np.testing.assert_allclose(dots, dots[0], atol=1e-4)


def test_the_pairing_is_found_and_not_assumed():
    assert rope.pairing(trace(tiny_model("llama"), IDS)) == "halves"
    assert rope.pairing(trace(tiny_model("gpt_neox"), IDS)) == "halves"
    config = transformers.CohereConfig(
        vocab_size=384, hidden_size=48, intermediate_size=96, num_hidden_layers=2,
        num_attention_heads=6, num_key_value_heads=2, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    network = transformers.CohereForCausalLM(config)
    cohere = LanguageModel.wrap(network, tiny_tokenizer(), name="tiny-cohere")
    assert rope.pairing(trace(cohere, IDS)) == "neighbours"


def test_where_nothing_is_turned_no_pairing_is_claimed():
    assert rope.pairing(trace(tiny_model("llama"), [5])) is None
    assert rope.pairing(trace(tiny_model("llama"), IDS, edits=[PositionOff()])) is None


def test_a_model_without_rope_is_named():
    for ask in (rope.speeds, rope.wavelengths, lambda model: rope.angles(model, [0])):
        with pytest.raises(EngineError, match="“tiny-gpt2” has no rotary position encoding"):
            ask(tiny_model("gpt2"))


@pytest.mark.real
def test_the_default_models_queries_are_rotated_in_halves(real_model):
    traced = trace(real_model, [4898, 314, 260, 6376, 4461, 47])
    assert rope.pairing(traced) == "halves"
    for layer in (0, 17, 29):
        raw_q, raw_k = traced.unrotated(layer)
        for raw, used in ((raw_q, traced.q[layer]), (raw_k, traced.k[layer])):
            for head in range(len(raw)):
                for position in range(6):
                    expected = naive(raw[head, position], position, 100000.0, 64)
                    np.testing.assert_allclose(used[head, position], expected, atol=1e-4)
