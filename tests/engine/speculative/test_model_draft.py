"""A model as the draft: the distribution that it says it drew from, and going back."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer as Backend

from engine.basics.errors import EngineError
from engine.generation.random_numbers import random_numbers
from engine.sampling.chain import SamplingSettings, final_probabilities
from engine.speculative.model_draft import ModelDraft, check_same_tokens
from engine.tokenizer.tokenizer import Tokenizer
from tests.engine.runs import END, WARM, ids_of
from tests.near import assert_drawn
from tests.tiny import FAMILIES, tiny_backend

PLAIN = SamplingSettings()


def test_a_model_says_the_distribution_that_it_drew_from(tiny_model):
    model = replace(tiny_model("qwen3"), stop_ids=frozenset())
    context = ids_of(model, "The cat")
    proposals = ModelDraft(model, 384).propose(context, 4, WARM, random_numbers(7))
    uniform, text = random_numbers(7), list(context)
    for one in proposals:
        with torch.inference_mode():
            logits = model.network(torch.tensor([text])).logits[0, -1].numpy()
        q = final_probabilities(logits, WARM, text)  # the penalties see the guesses before it
        np.testing.assert_allclose(one.q, q, rtol=0, atol=1e-4)
        assert_drawn(one.id, q, uniform())
        text.append(one.id)


@pytest.mark.parametrize("family", FAMILIES)
def test_rejected_guesses_are_forgotten(tiny_model, family):
    """Longer than the sliding windows of 8, where a cache with a window could not go back."""
    model = replace(tiny_model(family), stop_ids=frozenset())
    draft = ModelDraft(model, 384)
    context = ids_of(model, "The cat sat on the mat and the dog")
    draft.propose(context, 4, PLAIN, random_numbers(1))
    other = [*context, 20, 30]
    again = draft.propose(other, 3, PLAIN, random_numbers(2))
    fresh = ModelDraft(model, 384).propose(other, 3, PLAIN, random_numbers(2))
    uniform = random_numbers(2)
    for one, expected in zip(again, fresh, strict=True):
        np.testing.assert_allclose(one.q, expected.q, rtol=0, atol=1e-4)
        assert_drawn(one.id, expected.q, uniform())
        if one.id != expected.id:
            break  # a near tie: what follows has another context


def test_a_model_stops_guessing_after_its_end_token(tiny_model):
    model = tiny_model("llama")
    settings = SamplingSettings(logit_bias={END: 100.0})
    proposals = ModelDraft(model, 384).propose([5, 6], 4, settings, random_numbers(0))
    assert [one.id for one in proposals] == [END]


def test_another_vocabulary_is_refused(tiny_model):
    with pytest.raises(EngineError, match="384 tokens and the target 500"):
        ModelDraft(tiny_model("llama"), 500)


def test_a_model_whose_ids_stand_for_other_tokens_is_no_draft(tiny_model):
    target = tiny_model("llama")
    check_same_tokens(tiny_model("gpt2"), target)
    text = json.loads(tiny_backend().to_str())
    swap = {300: 301, 301: 300}
    text["model"]["vocab"] = {
        piece: swap.get(number, number) for piece, number in text["model"]["vocab"].items()
    }
    tokenizer = Tokenizer(Backend.from_str(json.dumps(text)))
    other = replace(target, tokenizer=tokenizer, name="other")
    with pytest.raises(EngineError, match="other can't guess for tiny-llama: the token 300 is"):
        check_same_tokens(other, target)
