"""Longrope: beyond the switch the whole text is read again, at the other speeds."""

import numpy as np
import pytest
import torch
import transformers

from engine.embedding import rope
from engine.generation.beam import beam_search
from engine.generation.loop import generate
from engine.kv_cache.cached_pass import CachedPass
from engine.model.model import LanguageModel
from engine.sampling.chain import SamplingSettings
from engine.speculative.loop import speculate
from engine.speculative.model_draft import ModelDraft
from engine.tracing.trace import trace
from tests.near import assert_same_text
from tests.tiny import tiny_backend, tiny_tokenizer

SWITCH = 16
GREEDY = SamplingSettings(temperature=0)
PROMPT = [7, 300, 12, 12, 45, 99, 31, 8, 250, 7, 88, 140, 301, 22]


def long_model(seed=0):
    """A tiny random Phi-3 whose speeds change beyond 16 tokens."""
    config = transformers.Phi3Config(
        vocab_size=tiny_backend().get_vocab_size(),
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=512,
        original_max_position_embeddings=SWITCH,
        bos_token_id=0,
        eos_token_id=2,
        pad_token_id=0,
        rope_parameters={
            "rope_type": "longrope",
            "rope_theta": 10_000.0,
            "short_factor": [1.0] * 4,
            "long_factor": [1.5, 3.0, 8.0, 20.0],
            "factor": 32.0,
            "original_max_position_embeddings": SWITCH,
        },
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
        for parameter in network.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.3)
    return LanguageModel.wrap(network.eval(), tiny_tokenizer(), name="tiny-longrope")


def reference(model, prompt, count, **settings):
    """What transformers' `generate()` writes."""
    ids = torch.tensor([prompt])
    with torch.inference_mode():
        written = model.network.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=count,
            **settings,
        )
    return written[0, len(prompt) :].tolist()


def whole(model, ids):
    """The logits after each length, each from a pass of its own: row i is after i + 1 tokens."""
    with torch.inference_mode():
        rows = [model.network(torch.tensor([ids[: i + 1]])).logits[0, -1] for i in range(len(ids))]
    return np.stack([row.numpy() for row in rows])


@pytest.mark.parametrize("tokens", [1, 12, 14, 15, 16, 17, 20])
@pytest.mark.parametrize("seed", range(4))
def test_greedy_text_is_that_of_generate(seed, tokens):
    model = long_model(seed)
    prompt = [*PROMPT, *PROMPT][:tokens]
    expected = reference(model, prompt, 20)
    steps = list(generate(model, prompt, GREEDY, max_new_tokens=20, seed=0))
    assert_same_text(model, prompt, [step.id for step in steps], expected, GREEDY)


def test_beams_cross_the_switch_as_those_of_generate():
    model = long_model()
    best = beam_search(model, PROMPT, width=3, max_new_tokens=8).hypotheses[0]
    expected = reference(model, PROMPT, 8, num_beams=3, early_stopping=False)
    assert list(best.ids) == expected


def test_every_way_to_the_same_length_gives_the_same_logits():
    model = long_model()
    ids = [*PROMPT, *PROMPT]
    expected = whole(model, ids)
    assert np.abs(whole(model, ids[:SWITCH])[-1] - expected[SWITCH - 1]).max() < 1e-4
    for cut in (3, 12, 15, 16, 17, 22):
        reading = CachedPass(model, rewindable=True, keep_states=True)
        reading.advance(ids[:cut])
        found = reading.advance_many(ids[cut:], len(ids) - cut)
        np.testing.assert_allclose(found, expected[cut:], rtol=0, atol=1e-4)
        assert reading.states_from(0).shape[0] == reading.tokens == len(ids)
        reading.rewind(SWITCH - 3)  # back before the switch: the long keys no longer fit
        again = reading.advance_many(ids[SWITCH - 3 :], 12)
        np.testing.assert_allclose(again, expected[-12:], rtol=0, atol=1e-4)


def test_a_draft_changes_nothing_where_it_crosses_the_switch():
    model = long_model()
    draft = ModelDraft(long_model(1), model.architecture.vocabulary)
    rounds = speculate(model, draft, PROMPT, GREEDY, k=5, max_new_tokens=16, seed=0)
    found = [token for one in rounds for token in one.ids]
    assert_same_text(model, PROMPT, found, reference(model, PROMPT, 16), GREEDY)


@pytest.mark.parametrize("tokens", [10, 16, 17, 24])
def test_a_heads_scores_do_not_depend_on_what_was_asked_for_before(tokens):
    model = long_model()
    seen = trace(model, [*PROMPT, *PROMPT][:tokens])
    scores = seen.scores(1)[2]
    for _ in range(3):
        head = rope.head_view(seen, 1, 2)
        query = tokens - 1
        found = [head.scores(query, key, [query], [key])[0] for key in range(tokens)]
        np.testing.assert_allclose(found, scores[query], rtol=0, atol=1e-3)
        assert head.pairing == "halves"
        trace(model, PROMPT[:4])
        seen.neuron_run(0)
        trace(model, [*PROMPT, *PROMPT])


def test_the_speeds_are_those_of_the_texts_length():
    model = long_model()
    short = 10_000.0 ** (-np.arange(4) / 4)
    for tokens, factor in ((1, [1] * 4), (16, [1] * 4), (17, [1.5, 3.0, 8.0, 20.0])):
        np.testing.assert_allclose(rope.speeds(model, tokens), short / factor, rtol=1e-5)
        np.testing.assert_allclose(
            rope.angles(model, [tokens - 1])[0], (tokens - 1) * short / factor, rtol=1e-5
        )
