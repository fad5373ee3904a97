"""A model as the draft: the distribution that it says it drew from, and going back."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer as Backend

from engine.basics.errors import EngineError
from engine.generation.loop import generate
from engine.generation.random_numbers import random_numbers
from engine.model.model import LanguageModel
from engine.sampling.chain import SamplingSettings, final_probabilities
from engine.speculative.loop import speculate
from engine.speculative.model_draft import ModelDraft, check_same_tokens
from engine.tokenizer.tokenizer import Tokenizer
from tests.engine.runs import END, WARM, ids_of
from tests.near import assert_drawn, assert_same_text
from tests.tiny import FAMILIES, tiny_backend, tiny_tokenizer

PLAIN = SamplingSettings()
GREEDY = SamplingSettings(temperature=0)


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


def padded(model, size):
    """A model whose LM head and table have another number of rows; the first ones are the same."""
    config = copy.deepcopy(model.network.config)
    config.vocab_size = size
    network = type(model.network)(config)
    state = {
        name: torch.cat([value[:size], torch.zeros(max(size - len(value), 0), *value.shape[1:])])
        if len(value) == model.architecture.vocabulary
        else value
        for name, value in model.network.state_dict().items()
    }
    network.load_state_dict(state)
    return LanguageModel.wrap(network, tiny_tokenizer(), name=f"padded to {size}")


@pytest.mark.parametrize(("draft_size", "target_size"), [(448, 384), (384, 448), (400, 448)])
def test_a_head_padded_to_another_size_is_no_other_vocabulary(tiny_model, draft_size, target_size):
    """The same numbers as a draft of the target's own size: padding is never guessed."""
    other = tiny_model("llama", seed=1)
    draft, target = padded(other, draft_size), padded(tiny_model("llama"), target_size)
    check_same_tokens(draft, target)
    context = ids_of(target, "The cat sat")
    pair = ModelDraft(draft, target_size), ModelDraft(padded(other, target_size), target_size)
    drawn = [one.propose(context, 4, PLAIN, random_numbers(3))[0].q for one in pair]
    assert [len(q) for q in drawn] == [target_size] * 2
    real = slice(0, 384)  # the padding's logits are 0 and not minus infinity, so shares differ
    shares = [q[real] / q[real].sum() for q in drawn]
    np.testing.assert_allclose(*shares, rtol=0, atol=1e-5)
    assert not drawn[0][draft_size:].any()
    run = speculate(
        target, ModelDraft(draft, target_size), context, GREEDY, k=3, max_new_tokens=12, seed=0
    )
    written = [token for one in run for token in one.ids]
    plain = [s.id for s in generate(target, context, GREEDY, max_new_tokens=12, seed=0)]
    assert_same_text(target, context, written, plain, GREEDY)


def test_a_draft_keeps_silent_after_a_padding_row_that_it_does_not_have(tiny_model):
    draft = ModelDraft(tiny_model("llama"), 448)
    assert draft.propose([5, 440], 3, PLAIN, random_numbers(0)) == []
    assert len(draft.propose([5, 6], 3, PLAIN, random_numbers(0))) == 3


def test_a_token_that_only_one_of_them_has_is_named(tiny_model):
    target = padded(tiny_model("llama"), 448)
    backend = Backend.from_str(tiny_backend().to_str())
    backend.add_tokens(["hullo"])
    more = replace(target, tokenizer=Tokenizer(backend).sized(448), name="more")
    with pytest.raises(EngineError, match="the token 384 is “hullo” here and nothing there"):
        check_same_tokens(more, target)
    with pytest.raises(EngineError, match="the token 384 is nothing here and “hullo” there"):
        check_same_tokens(target, more)


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
