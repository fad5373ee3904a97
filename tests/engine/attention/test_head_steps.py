"""Each step of a head against eager attention, RoPE applied by hand, and attn_out itself."""

import numpy as np
import pytest
import torch

from engine.attention import head_steps
from engine.basics.errors import EngineError
from engine.embedding import rope
from engine.tracing.trace import trace
from tests.tiny import FAMILIES, tiny_model, tiny_network

IDS = [7, 300, 12, 12, 45, 99, 7, 300, 12, 200, 31, 8, 250, 7]


@pytest.fixture(scope="module", params=FAMILIES)
def traced(request):
    return trace(tiny_model(request.param), IDS)


def test_the_pattern_is_that_of_eager_attention(traced):
    family = traced.model.name.removeprefix("tiny-")
    with torch.inference_mode():
        eager = tiny_network(family)(torch.tensor([IDS]), output_attentions=True).attentions
    for layer in range(traced.architecture.layers):
        for head in range(traced.architecture.heads):
            steps = head_steps.head_steps(traced, layer, head)
            np.testing.assert_allclose(steps.pattern, eager[layer][0, head], atol=2e-6)
            np.testing.assert_allclose(steps.pattern.sum(axis=-1), 1, atol=1e-5)


def test_each_step_follows_from_the_one_before(traced):
    steps = head_steps.head_steps(traced, 1, 2)
    np.testing.assert_allclose(steps.dots, steps.q @ steps.k.T, atol=1e-5)
    scaled = steps.dots * traced.scales[1]
    if traced.softcaps[1]:
        scaled = traced.softcaps[1] * np.tanh(scaled / traced.softcaps[1])
    np.testing.assert_allclose(steps.scaled, scaled, atol=1e-5)
    hidden = np.isinf(steps.masked)
    np.testing.assert_array_equal(hidden, ~traced.masks[1])
    np.testing.assert_array_equal(steps.masked[~hidden], steps.scaled[~hidden])
    assert (steps.pattern[hidden] == 0).all()
    np.testing.assert_allclose(steps.mixed, steps.pattern @ steps.v, atol=1e-5)


def test_position_encoding_leads_from_the_raw_to_the_turned_queries(traced):
    steps = head_steps.head_steps(traced, 0, 3)
    if traced.architecture.positions != "rope":
        np.testing.assert_allclose(steps.q, steps.q_raw, atol=1e-5)
        return
    if traced.architecture.family == "gpt_neox":
        return  # turns a part of each head only: tests of rope.py
    angles = rope.angles(traced.model, range(len(IDS)))
    half = steps.q.shape[-1] // 2
    for turned, raw in ((steps.q, steps.q_raw), (steps.k, steps.k_raw)):
        a, b = raw[:, :half], raw[:, half:]
        expected = np.hstack(
            [a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)]
        )
        np.testing.assert_allclose(turned, expected, atol=1e-5)


def test_the_heads_parts_sum_to_what_attention_adds(traced):
    if traced.architecture.family == "gemma2":
        return  # a norm follows the sum
    for layer in range(traced.architecture.layers):
        total = sum(
            head_steps.head_steps(traced, layer, head).output
            for head in range(traced.architecture.heads)
        )
        bias = getattr(traced.model.sites.layers[layer].mix, "bias", None)
        if bias is not None:
            total = total + bias.numpy()
        np.testing.assert_allclose(total, traced.attn_out[layer], atol=5e-6)


def test_what_all_heads_add_to_one_token_is_that_of_each(traced):
    found = head_steps.head_outputs(traced, 1, -1)
    for head, output in enumerate(found):
        expected = head_steps.head_steps(traced, 1, head).output[-1]
        np.testing.assert_allclose(output, expected, atol=1e-5)


def test_a_head_that_does_not_exist_is_named():
    traced = trace(tiny_model("llama"), IDS)
    with pytest.raises(EngineError, match="no head 6: choose one from 0 to 5"):
        head_steps.head_steps(traced, 0, 6)
    with pytest.raises(EngineError, match="no layer -1"):
        head_steps.head_steps(traced, -1, 0)
