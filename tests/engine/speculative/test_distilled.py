"""The distilled draft: what it reads, what it says it drew from, going back, and its file."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.generation.loop import generate
from engine.generation.random_numbers import random_numbers
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, draw, final_probabilities
from engine.speculative.distilled import (
    WEIGHTS,
    DistilledBlock,
    DistilledDraft,
    DistilledParts,
    load_parts,
)
from engine.speculative.loop import speculate
from tests.engine.runs import GREEDY, WARM, ids_of
from tests.near import assert_drawn, assert_same_text

CUT = 100
HELD_OUT = (
    "What is the difference between a frog and a toad?",
    "Write a short letter to my landlord about a broken heater.",
    "How do I boil an egg?",
    "Explain gravity to a ten-year-old.",
)


def random_parts(model, seed=0):
    """Return a block with random weights whose head knows each third token."""
    generator = torch.Generator().manual_seed(seed)
    block = DistilledBlock(model.network)
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=generator)
    cut = torch.arange(0, model.architecture.vocabulary, 3)[:CUT]
    return DistilledParts(model.network, {**block.state_dict(), "vocabulary": cut}), block, cut


def endless(tiny_model, family="llama"):
    return replace(tiny_model(family), stop_ids=frozenset())


def followed(model, parts, ids):
    """Return a draft that looks at a pass which has read all but the last token."""
    draft = DistilledDraft(model, parts)
    target = CachedPass(model, rewindable=True, keep_states=True)
    draft.follow(target)
    target.advance(ids[:-1])
    return draft, target


def test_states_are_what_the_lm_head_reads(tiny_model):
    model = endless(tiny_model)
    ids = ids_of(model, "The cat sat on the mat")
    kept = CachedPass(model, rewindable=True, keep_states=True)
    logits = [kept.advance(ids[:3]), kept.advance(ids[3:5])]
    heads = model.network.lm_head(kept.states_from(0)).detach().numpy()
    np.testing.assert_allclose(heads[[2, 4]], logits, rtol=0, atol=1e-5)
    kept.rewind(3)
    assert kept.states_from(1).shape == (2, model.architecture.width)
    np.testing.assert_allclose(kept.advance(ids[3:5]), logits[1], rtol=0, atol=1e-5)


def test_a_pass_that_keeps_no_states_says_so(tiny_model):
    kept = CachedPass(tiny_model("llama"))
    with pytest.raises(ValueError, match="keeps no states"):
        kept.states_from(0)


def test_guesses_are_the_block_over_embeddings_and_states(tiny_model):
    """Naive: the whole text anew for each guess, its own results for the states that lack."""
    model = endless(tiny_model)
    parts, block, cut = random_parts(model)
    ids = ids_of(model, "The cat sat on the mat")
    draft, target = followed(model, parts, ids)
    proposals = draft.propose(ids, 3, WARM, random_numbers(7))
    text, uniform = list(ids), random_numbers(7)
    states = target.states_from(0)
    for one in proposals:
        with torch.inference_mode():
            embeddings = model.network.get_input_embeddings()(torch.tensor(text[1:]))
            guessed = block.eval()(embeddings[None], states[None])[0, -1]
            logits = np.full(model.architecture.vocabulary, -1e4, np.float32)
            logits[cut] = model.network.lm_head(guessed).numpy()[cut]
        q = final_probabilities(logits, WARM, text)
        np.testing.assert_allclose(one.q, q, rtol=0, atol=1e-4)
        assert one.id == draw(one.q, uniform())
        text.append(one.id)
        states = torch.cat([states, guessed[None]])


def test_nothing_outside_the_cut_head_is_guessed(tiny_model):
    model = endless(tiny_model)
    parts, _, cut = random_parts(model)
    ids = ids_of(model, "The cat sat")
    for settings in (SamplingSettings(temperature=2.0), SamplingSettings(typical_p=0.9), GREEDY):
        draft, _ = followed(model, parts, ids)
        for one in draft.propose(ids, 4, settings, random_numbers(1)):
            assert set(np.flatnonzero(one.q)) <= set(cut.tolist())
            assert one.q.sum() == pytest.approx(1, abs=1e-5)


def test_rejected_guesses_are_forgotten(tiny_model):
    model = endless(tiny_model)
    parts, *_ = random_parts(model)
    ids = ids_of(model, "The cat sat on the mat")
    draft, target = followed(model, parts, ids)
    draft.propose(ids, 4, WARM, random_numbers(1))
    longer = [*ids, 20, 30]
    target.advance(longer[len(ids) - 1 : -1])
    again = draft.propose(longer, 3, WARM, random_numbers(2))
    fresh, _ = followed(model, parts, longer)
    expected = fresh.propose(longer, 3, WARM, random_numbers(2))
    uniform = random_numbers(2)
    for one, other in zip(again, expected, strict=True):
        np.testing.assert_allclose(one.q, other.q, rtol=0, atol=1e-4)
        assert_drawn(one.id, other.q, uniform())
        if one.id != other.id:
            break  # a near tie: what follows has another context


def test_it_stops_after_an_end_token(tiny_model):
    model = endless(tiny_model)
    parts, _, cut = random_parts(model)
    ends = replace(model, stop_ids=frozenset(cut.tolist()))
    ids = ids_of(model, "The cat sat")
    draft, _ = followed(ends, parts, ids)
    assert len(draft.propose(ids, 4, WARM, random_numbers(1))) == 1


@pytest.mark.parametrize("prompt", ["The cat sat on the mat. The cat sat", "x"])
def test_greedy_is_plain_greedy(tiny_model, prompt):
    model = endless(tiny_model)
    parts, *_ = random_parts(model)
    ids = ids_of(model, prompt)
    plain = [step.id for step in generate(model, ids, GREEDY, max_new_tokens=24, seed=0)]
    for k in (1, 4):
        draft = DistilledDraft(model, parts)
        rounds = list(speculate(model, draft, ids, GREEDY, k=k, max_new_tokens=24, seed=0))
        found = [token for part in rounds for token in part.ids]
        assert_same_text(model, ids, found, plain, GREEDY)
        assert rounds[0].source == "drawn"  # the target has read nothing yet
        assert all(len(part.proposed) >= 1 for part in rounds[1:-1])


def test_it_is_only_for_its_own_model(tiny_model):
    with pytest.raises(EngineError, match="trained for SmolLM2-135M-Instruct"):
        load_parts(tiny_model("llama"))


def test_the_file_is_small():
    assert WEIGHTS.stat().st_size <= 15_000_000


@pytest.mark.real
def test_it_is_often_right_on_chats_that_it_never_saw(real_model):
    """`python -m benchmarks speculating` measures more prompts: 0.44 at temperature 0."""
    parts = load_parts(real_model)
    kept = checked = 0
    for seed, question in enumerate(HELD_OUT):
        ids = real_model.tokenizer.chat([{"role": "user", "content": question}])
        draft = DistilledDraft(real_model, parts)
        for part in speculate(real_model, draft, ids, GREEDY, k=1, max_new_tokens=32, seed=seed):
            kept += part.accepted
            checked += len(part.proposed)
    assert kept / checked >= 0.33
