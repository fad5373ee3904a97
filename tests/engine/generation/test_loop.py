"""The loop: right tokens, right numbers, right refusals, and the default model."""

import json
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.generation.loop import generate
from engine.generation.random_numbers import uniforms
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import (
    SamplingSettings,
    SettingsError,
    final_probabilities,
    softmax,
)
from tests.engine.runs import END, GREEDY, WARM, ids_of, run, text_of
from tests.near import assert_best, assert_drawn, assert_same_text
from tests.tiny import FAMILIES

# --- the same tokens as transformers, and as the loop without a cache -----------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_is_generate_without_sampling(tiny_model, family):
    model = tiny_model(family)
    for text in ("The cat sat on the mat. The", "a"):
        ids = ids_of(model, text)
        prompt = torch.tensor([ids])
        expected = model.network.generate(
            prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=20
        )[0, len(ids) :].tolist()
        steps = run(model, ids)
        found = [step.id for step in steps]
        assert_same_text(model, ids, found, expected, GREEDY)
        assert steps[-1].stop_reason == ("end token" if found[-1] == END else "token budget")


@pytest.mark.parametrize("family", FAMILIES)
def test_with_cache_is_without_cache(tiny_model, family):
    """Prefill of 5 tokens, then one at a time: longer than the sliding windows of 8."""
    model = tiny_model(family)
    ids = np.random.default_rng(0).integers(3, model.architecture.vocabulary, 24).tolist()
    cached = CachedPass(model)
    for end in range(5, len(ids) + 1):
        logits = cached.advance(ids[cached.tokens : end])
        with torch.inference_mode():
            whole = model.network(torch.tensor([ids[:end]]), use_cache=False).logits[0, -1].numpy()
        np.testing.assert_allclose(logits, whole, rtol=0, atol=1e-4)
        assert cached.tokens == end


def test_sampling_is_the_naive_loop(tiny_model):
    """No cache, no bookkeeping: forward pass, chain, draw, append."""
    model = tiny_model("qwen3")
    model = replace(model, stop_ids=frozenset())
    ids = ids_of(model, "The cat")
    steps = run(model, ids, WARM, seed=5)
    context = list(ids)
    for step, u in zip(steps, uniforms(5, len(steps)), strict=True):
        with torch.inference_mode():
            logits = model.network(torch.tensor([context])).logits[0, -1].numpy()
        final = final_probabilities(logits, WARM, context)
        assert step.u == u
        assert_drawn(step.id, final, u)
        assert step.probability == pytest.approx(final[step.id], abs=1e-4)
        assert step.raw_probability == pytest.approx(softmax(logits)[step.id], abs=1e-4)
        context.append(step.id)


# --- what a step says -----------------------------------------------------------------------------


def test_a_step_reports_what_was_drawn_and_from_what(tiny_model):
    model = tiny_model("llama")
    ids = ids_of(model, "The cat")
    steps = run(model, ids, replace(WARM, top_k=4, top_p=1.0), seed=3, max_new_tokens=5)
    assert [step.index for step in steps] == list(range(len(steps)))
    for step in steps:
        assert step.data == model.tokenizer.bytes_of(step.id)
        assert len(step.top_raw) == 10
        assert len(step.top_final) == 4
        for first, second in pairwise(step.top_raw):
            assert first[1] >= second[1] > 0
        assert dict(step.top_final)[step.id] == step.probability
        assert sum(p for _, p in step.top_final) == pytest.approx(1, abs=1e-6)
        assert 0 <= step.u < 1
        assert step.milliseconds > 0
        # Keys and values: 2 x layers x KV heads x head size x tokens x 4 bytes.
        size = model.architecture
        assert step.cache_tokens == len(ids) + step.index
        assert step.cache_bytes == (
            2 * size.layers * size.kv_heads * size.head_size * step.cache_tokens * 4
        )
        with pytest.raises(FrozenInstanceError):
            step.id = 0
    assert [step.stop_reason for step in steps] == [None] * 4 + ["token budget"]


def test_greedy_is_certain_but_reports_the_models_own_probability(tiny_model):
    model = tiny_model("llama")
    step = run(model, ids_of(model, "The cat"), max_new_tokens=1)[0]
    assert step.probability == 1.0
    assert step.top_final == ((step.id, 1.0),)
    assert step.raw_probability < 1.0
    assert step.top_raw[0] == (step.id, step.raw_probability)


# --- seeds ----------------------------------------------------------------------------------------


def test_same_seed_same_text_other_seed_other_text(tiny_model):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    ids = ids_of(model, "The cat")
    hot = SamplingSettings(temperature=2.0)
    texts = [text_of(run(model, ids, hot, seed=seed)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_a_run_leaves_the_global_random_numbers_alone(tiny_model):
    model = tiny_model("llama")
    before = torch.get_rng_state()
    run(model, ids_of(model, "The cat"), WARM, max_new_tokens=3)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1, -(2**63)])
def test_uniforms_are_in_range_and_extend_each_other(seed):
    numbers = uniforms(seed, 50)
    assert all(0 <= u < 1 for u in numbers)
    assert numbers[:7] == uniforms(seed, 7)
    assert len(set(numbers)) == 50


# --- what is refused, before anything runs --------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ids": []}, "There are no tokens to read"),
        ({"ids": [1] * 512}, "512 at most, which leaves no room for 1 more: shorten"),
        ({"ids": [99_999]}, "There is no token id 99999: choose one from 0 to 383"),
        ({"ids": [-1]}, "There is no token id -1: choose one from 0 to 383"),
        ({"max_new_tokens": 0}, "The token budget must be at least 1, but is 0"),
        ({"seed": 2**64}, "The seed must be a whole number of at most 64 bits"),
        ({"seed": 1.5}, "The seed must be a whole number"),
        ({"stop": ["a", ""]}, "A stop string must have at least one character"),
        ({"settings": SamplingSettings(logit_bias={10**6: 1})}, "logit_bias names token 1000000"),
    ],
)
def test_bad_requests_are_refused_at_once(tiny_model, change, words):
    model = tiny_model("llama")
    request = {"ids": [5], "settings": GREEDY, "max_new_tokens": 3, "seed": 0} | change
    with pytest.raises(EngineError) as error:
        generate(model, **request)
    assert words in str(error.value)


def test_banning_every_token_is_refused(tiny_model):
    model = tiny_model("llama")
    ban_all = dict.fromkeys(range(model.architecture.vocabulary), -np.inf)
    with pytest.raises(SettingsError, match="bans every token"):
        run(model, [5], SamplingSettings(logit_bias=ban_all))


# --- the default model ----------------------------------------------------------------------------

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "greedy.json").read_text())
WHOLE = {"The capital of France is", "Once upon a time, in a village by the sea,"}
"""The prompts whose answers the loop writes whole here, one to its end token and one to all 64
tokens; of the others the first 5 tokens.

All 20 x 64 tokens one by one take minutes on two busy cores. For the rest the definition stands
in: one pass over a prompt and its recorded answer has every recorded token as its argmax, up to a
near tie (see tests/near.py). To let the loop write all of them, run
`python -m scripts.record_greedy --check`.
"""


@pytest.mark.real
def test_the_recording_has_20_prompts_of_64_tokens(real_model):
    assert len(RECORDED) == 20
    for entry in RECORDED:
        ended = entry["tokens"][-1] in real_model.stop_ids
        assert len(entry["tokens"]) == 64 or ended


@pytest.mark.real
@pytest.mark.parametrize("entry", RECORDED, ids=[entry["prompt"][:20] for entry in RECORDED])
def test_each_recorded_token_is_the_argmax(real_model, entry):
    ids, tokens = entry["ids"], entry["tokens"]
    with real_model.lock, torch.inference_mode():
        logits = real_model.network(
            torch.tensor([ids + tokens[:-1]]), use_cache=False, logits_to_keep=len(tokens)
        ).logits[0]
    for token_id, row in zip(tokens, logits.numpy(), strict=True):
        assert_best(token_id, row)


@pytest.mark.real
@pytest.mark.parametrize("entry", RECORDED, ids=[entry["prompt"][:20] for entry in RECORDED])
def test_greedy_is_generate_on_the_default_model(real_model, entry):
    count = 64 if entry["prompt"] in WHOLE else 5
    steps = run(real_model, entry["ids"], max_new_tokens=count)
    found = [step.id for step in steps]
    assert_same_text(real_model, entry["ids"], found, entry["tokens"][:count], GREEDY)


@pytest.mark.real
def test_the_default_model_says_paris(real_model):
    step = run(real_model, ids_of(real_model, "The capital of France is"), max_new_tokens=1)[0]
    assert step.text == " Paris"
    assert step.raw_probability == pytest.approx(0.77, abs=0.01)
