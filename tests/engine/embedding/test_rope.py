"""Rotation: the naive formula, transformers' own function and the traced queries agree."""

import math

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from engine.basics.errors import EngineError
from engine.embedding import rope
from engine.observe.edits import PositionOff
from engine.tracing.trace import trace
from tests.tiny import FAMILIES, tiny_model

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
    assert rope.pairing(trace(tiny_model("cohere"), IDS)) == "neighbours"


@pytest.mark.parametrize("family", [*WITH_ROPE, "cohere"])
def test_one_token_is_paired_as_the_model_pairs_all_others(family):
    model = tiny_model(family)
    rotated = rope.rotated_pairs(model)
    assert rotated.pairing == ("neighbours" if family == "cohere" else "halves")
    assert rotated.count == len(rope.speeds(model))
    assert rope.head_view(trace(model, [5]), 0, 0).pairing == rotated.pairing


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


@pytest.mark.parametrize("family", WITH_ROPE)
def test_a_head_moved_to_its_own_places_scores_as_the_model_did(family):
    traced = trace(tiny_model(family), IDS)
    layer, head = traced.architecture.layers - 1, traced.architecture.heads - 1
    view = rope.head_view(traced, layer, head)
    softcap = traced.softcaps[layer]
    for query, key in ((9, 4), (5, 5), (8, 7)):
        (score,) = view.scores(query, key, [query], [key])
        capped = score if softcap is None else softcap * np.tanh(score / softcap)
        assert capped == pytest.approx(
            float((traced.q[layer, head, query] * view.k[key]).sum()) * traced.scales[layer]
            if softcap is None
            else float(traced.scores(layer)[head, query, key]),
            abs=1e-4,
        )


def test_moving_both_tokens_keeps_the_score_and_moving_one_does_not():
    view = rope.head_view(trace(tiny_model("llama"), IDS), 1, 3)
    shifts = range(0, 200, 7)
    together = view.scores(6, 2, [6 + s for s in shifts], [2 + s for s in shifts])
    np.testing.assert_allclose(together, together[0], atol=1e-4)
    apart = view.scores(6, 2, [6 + s for s in shifts], [2] * len(shifts))
    assert np.ptp(apart) > 0.01


def test_a_pair_keeps_its_length_and_position_0_is_not_turned():
    view = rope.head_view(trace(tiny_model("llama"), IDS), 0, 5)
    for pair in range(len(view.speeds)):
        before, after = view.pair(view.raw_q, pair), view.pair(view.q, pair)
        np.testing.assert_allclose(before[0], after[0], atol=1e-5)
        np.testing.assert_allclose(
            np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1), rtol=1e-4
        )
    with pytest.raises(EngineError, match="pair"):
        view.pair(view.q, len(view.speeds))


def test_the_mean_score_by_distance_is_that_of_the_diagonals():
    traced = trace(tiny_model("llama"), IDS)
    means, counts = rope.mean_score_by_distance(traced, 1, 2)
    scores = traced.scores(1)[2]
    assert counts.tolist() == list(range(len(IDS), 0, -1))
    expected = np.mean([scores[i, i - 3] for i in range(3, len(IDS))])
    assert means[3] == pytest.approx(float(expected), abs=1e-5)


def test_a_distance_that_the_mask_hides_has_no_mean():
    traced = trace(tiny_model("mistral"), IDS * 2)
    means, counts = rope.mean_score_by_distance(traced, 0, 0)
    assert counts[-1] == 0
    assert np.isnan(means[-1])


@pytest.mark.real
def test_the_default_models_wavelengths_span_from_two_pi_to_hundreds_of_thousands(real_model):
    waves = rope.wavelengths(real_model)
    assert len(waves) == 32
    assert waves[0] == pytest.approx(2 * np.pi, rel=1e-5)
    assert 400_000 < waves[-1] < 500_000
