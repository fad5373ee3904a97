"""Norms step by step, one block, and a score as a sum over the parts of the model."""

import numpy as np
import pytest
import torch
from torch import nn

from engine.basics.errors import EngineError
from engine.feed_forward.block import block_run
from engine.interpret.attribution import attribution, head_attribution, telling_head
from engine.observe.edits import KnockOutHead, KnockOutMlp
from engine.tracing.norms import norm_steps
from engine.tracing.trace import trace
from tests.tiny import FAMILIES, tiny_model

IDS = [7, 300, 12, 12, 45, 99, 7, 300]


@pytest.fixture(scope="module", params=FAMILIES)
def traced(request):
    return trace(tiny_model(request.param), IDS)


def test_the_terms_sum_to_the_score(traced):
    for token, position in ((7, -1), (200, 3), (0, 0)):
        found = attribution(traced, token, position)
        assert found.total == pytest.approx(found.dot, abs=1e-3)
        logit = float(traced.logits_at(position)[token])
        cap = getattr(traced.model.network.config, "final_logit_softcapping", None)
        expected = cap * np.tanh(found.dot / cap) if cap else found.dot
        assert logit == pytest.approx(expected, abs=1e-3)


def test_a_silenced_part_has_no_term(traced):
    edited = trace(traced.model, IDS, edits=[KnockOutMlp(1)])
    assert attribution(edited, 7).mlp[1] == pytest.approx(0, abs=1e-6)
    assert attribution(traced, 7).mlp[1] != pytest.approx(0, abs=1e-3)


def test_a_term_is_what_the_score_loses_while_the_norms_divisor_stays(traced):
    """Written anew: the same norm on the vector without one layer's part, undivided and divided."""
    final = traced.resid_post.at(-1)[-1]
    norm = traced.model.sites.final_norm
    steps = norm_steps(traced.model, norm, final)
    without = norm_steps(traced.model, norm, final - traced.attn_out[1, -1])
    row = traced.model.network.get_output_embeddings().weight[9].numpy()
    rescaled = (without.output - without.bias) * without.divisor / steps.divisor
    expected = float((steps.output - steps.bias - rescaled) @ row)
    assert attribution(traced, 9).attention[1] == pytest.approx(expected, abs=1e-4)
    parts = traced.attn_out[:, -1]
    np.testing.assert_allclose(parts @ steps.worth(row), steps.part(parts) @ row, atol=1e-5)


def test_a_block_on_one_token(traced):
    for layer in range(traced.architecture.layers):
        run = block_run(traced, layer, 5)
        np.testing.assert_allclose(run.resid_mid, run.resid_pre + run.attn_out, atol=1e-5)
        np.testing.assert_allclose(run.resid_post, run.resid_mid + run.mlp_out, atol=1e-5)
        np.testing.assert_allclose(run.resid_post, traced.resid_post[layer][5], atol=1e-5)
        assert run.parallel == traced.architecture.parallel
        assert run.attention_norm is not None
        assert run.mlp_norm is not None
        np.testing.assert_array_equal(run.attention_norm.given, run.resid_pre)
        read = run.resid_pre if run.parallel else run.resid_mid
        np.testing.assert_array_equal(run.mlp_norm.given, read)
        for steps in (run.attention_norm, run.mlp_norm):
            centred = traced.architecture.norm == "LayerNorm"
            assert steps.centred is centred
            x = steps.given.astype(np.float64)
            x = x - x.mean() if centred else x
            assert steps.divisor == pytest.approx(np.sqrt((x**2).mean() + 1e-6), rel=5e-4)
            np.testing.assert_allclose(
                steps.divided * steps.weights + steps.bias, steps.output, atol=1e-4
            )


def test_a_norm_of_an_unknown_kind_is_refused():
    class Odd(nn.Module):
        def forward(self, x):
            return torch.tanh(x) + x**3

    with pytest.raises(EngineError, match=r"\(Odd\) is of a kind"):
        norm_steps(tiny_model("llama"), Odd(), np.linspace(-2, 3, 48, dtype=np.float32))


def test_what_does_not_exist_is_named():
    traced = trace(tiny_model("llama"), IDS)
    with pytest.raises(EngineError, match="no token id 99999"):
        attribution(traced, 99999)
    with pytest.raises(EngineError, match="no layer 3"):
        block_run(traced, 3, 0)


def test_the_default_models_score_of_paris_is_the_sum_of_its_parts(real_model):
    ids = [token.id for token in real_model.tokenizer.encode("The capital of France is")]
    traced = trace(real_model, ids)
    best = int(traced.logits.argmax())
    found = attribution(traced, best)
    assert found.total == pytest.approx(float(traced.logits[best]), abs=1e-3)
    assert found.constant == 0


@pytest.mark.parametrize("family", ["llama", "qwen3", "gpt2"])
def test_the_heads_of_a_layer_share_what_its_attention_adds(family):
    whole = trace(tiny_model(family), IDS)
    heads = head_attribution(whole, 200, 5)
    bias = np.zeros(whole.architecture.layers)
    for layer, site in enumerate(whole.model.sites.layers):
        if getattr(site.mix, "bias", None) is not None:
            final = whole.resid_post.at(5)[-1]
            norm = norm_steps(whole.model, whole.model.sites.final_norm, final)
            row = whole.model.network.get_output_embeddings().weight[200].detach().numpy()
            bias[layer] = norm.part(site.mix.bias.detach().numpy()) @ row
    expected = attribution(whole, 200, 5).attention
    np.testing.assert_allclose(heads.sum(axis=(1, 2)) + bias, expected, atol=1e-4)


def test_a_silenced_head_has_a_term_of_its_own():
    model = tiny_model("llama")
    plain, edited = trace(model, IDS), trace(model, IDS, edits=[KnockOutHead(2, 1)])
    # In the last layer nothing comes after the head but the norm, whose divisor is held fixed.
    final = plain.resid_post[-1][-1] - edited.resid_post[-1][-1]
    norm = norm_steps(model, model.sites.final_norm, plain.resid_post[-1][-1])
    row = model.network.get_output_embeddings().weight[7].detach().numpy()
    mlp = plain.mlp_out[2, -1] - edited.mlp_out[2, -1]
    assert head_attribution(plain, 7)[2, 1].sum() == pytest.approx(
        norm.part(final - mlp) @ row, abs=1e-4
    )


def test_the_telling_head_adds_most_by_reading_other_words():
    whole = trace(tiny_model("llama"), IDS)
    terms = head_attribution(whole, int(whole.logits.argmax()))
    sums = {
        (layer, head): sum(terms[layer, head, read] for read in range(1, len(IDS) - 1))
        for layer in range(whole.architecture.layers)
        for head in range(whole.architecture.heads)
    }
    assert telling_head(whole) == max(sums, key=sums.__getitem__)
    assert telling_head(trace(tiny_model("llama"), IDS[:1])) in sums
