"""A score with its terms, the top list and its rule for ties, softmax and entropy."""

import numpy as np
import pytest

from engine.basics.distribution import top
from engine.basics.errors import EngineError
from engine.lm_head import scores
from engine.tracing.trace import trace
from tests.tiny import FAMILIES, tiny_model

IDS = [7, 300, 12, 12, 45, 99]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_terms_of_a_score_sum_to_it(family):
    traced = trace(tiny_model(family), IDS)
    weight = traced.model.network.get_output_embeddings().weight.detach().numpy()
    for token, position in ((0, -1), (383, 2), (int(traced.logits.argmax()), 5)):
        terms = scores.logit_terms(traced, token, position)
        np.testing.assert_array_equal(terms.weights, weight[token])
        np.testing.assert_allclose(terms.products, terms.hidden * terms.weights)
        assert terms.dot == pytest.approx(terms.products.sum() + terms.bias, abs=1e-4)
        bounded = 30.0 * np.tanh(terms.dot / 30.0) if family == "gemma2" else terms.dot
        assert terms.softcap == (30.0 if family == "gemma2" else None)
        assert terms.logit == pytest.approx(bounded, abs=1e-4)
        assert terms.logit == pytest.approx(traced.logits_at(position)[token], abs=1e-4)


def test_what_does_not_exist_is_named():
    traced = trace(tiny_model("llama", layers=2), IDS)
    with pytest.raises(EngineError, match="no token id 384"):
        scores.logit_terms(traced, 384)
    with pytest.raises(EngineError, match="no position 6"):
        scores.logit_terms(traced, 1, 6)


@pytest.mark.real
def test_the_default_models_answer(real_model):
    ids = [token.id for token in real_model.tokenizer.encode("The capital of France is")]
    traced = trace(real_model, ids)
    best = top(traced.logits, 2)
    assert real_model.tokenizer.decode([int(best.ids[0])]) == " Paris"
    assert best.probabilities[0] == pytest.approx(0.77, abs=0.005)
    terms = scores.logit_terms(traced, int(best.ids[0]))
    assert terms.dot == pytest.approx(float(traced.logits.max()), abs=1e-4)
    assert terms.bias == 0
