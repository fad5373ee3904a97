"""Presence and frequency count what was generated (OpenAI, vLLM), or also the prompt (llama.cpp).

The same in every place that draws: the chain, the loop, speculation, rows under a guard, the
overview. The reference is a naive loop with its own counting.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.generation.loop import generate
from engine.generation.random_numbers import uniforms
from engine.guardrails.batch import write_rows
from engine.overview.summary import summarise
from engine.sampling.chain import (
    SamplingSettings,
    SettingsError,
    draw,
    final_probabilities,
    run_chain,
    softmax,
)
from engine.speculative.drafts import PromptLookup
from engine.speculative.law import exact_law
from engine.speculative.loop import speculate
from engine.speculative.model_draft import ModelDraft
from engine.tracing.trace import trace
from tests.engine.runs import ids_of

PRESENCE, FREQUENCY = 0.6, 0.45
COUNTING = SamplingSettings(presence_penalty=PRESENCE, frequency_penalty=FREQUENCY)
KINDS = {
    "the answer": COUNTING,
    "prompt too": replace(COUNTING, count_prompt=True),
    "the answer, last 3": replace(COUNTING, penalty_window=3),
    "prompt too, last 7": replace(COUNTING, count_prompt=True, penalty_window=7),
}
kinds = pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS)
PROMPT = "The cat sat on the mat. The cat sat"


def naive_logits(logits, prompt, answer, settings):
    """What the definition says: each count by hand."""
    text = [("prompt", i) for i in prompt] + [("answer", i) for i in answer]
    if settings.penalty_window:
        text = text[-settings.penalty_window :]
    out = np.array(logits, dtype=np.float32)
    for token_id in range(len(out)):
        count = sum(i == token_id and (settings.count_prompt or who == "answer") for who, i in text)
        out[token_id] -= np.float32((count > 0) * PRESENCE + count * FREQUENCY)
    return out


def naive_answer(model, prompt, settings, numbers):
    """One pass over the whole text per token, and no bookkeeping."""
    answer = []
    for u in numbers:
        with torch.inference_mode():
            logits = model.network(torch.tensor([[*prompt, *answer]])).logits[0, -1].numpy()
        counted = naive_logits(logits, prompt, answer, settings)
        if settings.greedy:
            answer.append(int(counted.argmax()))
        else:
            answer.append(draw(softmax(counted), u))
    return answer


@pytest.fixture
def endless(tiny_model):
    return replace(tiny_model("llama"), stop_ids=frozenset())


# --- the chain ------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("prompt_tokens", [0, 1, 5, 12])
def test_the_chain_counts_by_the_definition(settings, prompt_tokens):
    rng = np.random.default_rng(prompt_tokens)
    logits = (rng.standard_normal(9) * 3).astype(np.float32)
    context = rng.integers(0, 9, 12).tolist()
    stage = run_chain(logits, settings, context, prompt_tokens=prompt_tokens)[-1]
    expected = naive_logits(logits, context[:prompt_tokens], context[prompt_tokens:], settings)
    np.testing.assert_allclose(stage.logits, expected, rtol=0, atol=1e-5)


def test_the_repetition_penalty_looks_at_prompt_and_answer():
    settings = SamplingSettings(repetition_penalty=2.0)
    stage = run_chain([4.0, 4.0, 4.0], settings, [0, 1], prompt_tokens=1)[1]
    np.testing.assert_array_equal(stage.logits, [2.0, 2.0, 4.0])


@pytest.mark.parametrize("prompt_tokens", [-1, 4])
def test_a_prompt_longer_than_the_context_is_refused(prompt_tokens):
    with pytest.raises(SettingsError, match=f"The prompt can't have {prompt_tokens} tokens"):
        run_chain(np.zeros(5), COUNTING, [1, 2, 3], prompt_tokens=prompt_tokens)


def test_a_choice_that_is_none_is_refused():
    with pytest.raises(SettingsError, match="count_prompt must be True or False, but is 1"):
        SamplingSettings(count_prompt=1)


# --- everywhere that draws ------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_loop_counts_by_the_definition(endless, settings, temperature):
    settings = replace(settings, temperature=temperature)
    ids = ids_of(endless, PROMPT)
    steps = list(generate(endless, ids, settings, max_new_tokens=14, seed=3))
    assert [step.id for step in steps] == naive_answer(endless, ids, settings, uniforms(3, 14))


@kinds
def test_writing_on_counts_what_was_written_before(endless, settings):
    ids = ids_of(endless, PROMPT)
    whole = [step.id for step in generate(endless, ids, settings, max_new_tokens=14, seed=3)]
    for cut in (1, 6, 13):
        rest = generate(
            endless, ids, settings, max_new_tokens=14 - cut, seed=3, written=whole[:cut]
        )
        assert [step.id for step in rest] == whole[cut:]


@kinds
@pytest.mark.parametrize("number", range(3))
def test_speculation_counts_as_the_loop_does(endless, settings, number):
    settings = replace(settings, temperature=0)
    ids = ids_of(endless, PROMPT)
    vocabulary = endless.architecture.vocabulary
    plain = [step.id for step in generate(endless, ids, settings, max_new_tokens=24, seed=0)]
    draft = (
        PromptLookup(vocabulary, endless.stop_ids),
        ModelDraft(endless, vocabulary),
        ModelDraft(endless, vocabulary),
    )[number]
    rounds = list(
        speculate(endless, draft, ids, settings, k=1 + 2 * number, max_new_tokens=24, seed=0)
    )
    assert [token_id for part in rounds for token_id in part.ids] == plain
    if number:
        # The target as its own draft counts as the target does: no guess is ever rejected.
        assert all(part.accepted == len(part.proposed) for part in rounds)


@kinds
def test_the_law_of_short_texts_counts_too(endless, settings):
    narrow = replace(settings, top_k=3)
    ids = ids_of(endless, PROMPT)
    law = exact_law(endless, ids, narrow)
    assert sum(law.values()) == pytest.approx(1, abs=1e-5)
    for text, share in itertools.islice(law.items(), 4):
        chance = 1.0
        for place, token_id in enumerate(text):
            with torch.inference_mode():
                logits = endless.network(torch.tensor([[*ids, *text[:place]]])).logits[0, -1]
            counted = naive_logits(logits.numpy(), ids, text[:place], settings)
            kept = np.sort(counted)[-3:].astype(np.float64)
            chance *= float(
                np.exp(counted[token_id] - kept.max()) / np.exp(kept - kept.max()).sum()
            )
        assert share == pytest.approx(chance, rel=1e-3)


@kinds
def test_rows_under_a_guard_count_as_a_run_alone(endless, settings):
    ids = ids_of(endless, PROMPT)
    rows = [[], []]
    for steps in write_rows(endless, ids, settings, seeds=(4, 5), max_new_tokens=12):
        for row, step in zip(rows, steps, strict=True):
            row.append(step.id)
    for seed, row in zip((4, 5), rows, strict=True):
        assert row == naive_answer(endless, ids, settings, uniforms(seed, 12))


@kinds
def test_the_overview_draws_what_the_loop_draws(endless, settings):
    ids = ids_of(endless, PROMPT)
    answer = [step.id for step in generate(endless, ids, settings, max_new_tokens=6, seed=8)]
    for count in (0, 1, 5):
        seen = trace(endless, [*ids, *answer[:count]])
        facts = summarise(endless, seen, settings, uniforms(8, 6)[count], prompt_tokens=len(ids))
        assert facts.sampling.drawn.id == answer[count]


# --- the default model ----------------------------------------------------------------------------


def text_of(model, text, settings, count=8):
    ids = [token.id for token in model.tokenizer.encode(text, add_bos=True)]
    steps = generate(model, ids, settings, max_new_tokens=count, seed=0)
    return "".join(step.text for step in steps)


@pytest.mark.real
@pytest.mark.parametrize(
    ("count_prompt", "answer"),
    [
        (False, " two three four four five six seven eight"),
        (True, "-third of the time.\n\n"),
    ],
)
def test_a_prompt_that_repeats_itself(real_model, count_prompt, answer):
    settings = SamplingSettings(temperature=0, frequency_penalty=0.8, count_prompt=count_prompt)
    ids = [token.id for token in real_model.tokenizer.encode("one two one two one", add_bos=True)]
    steps = generate(real_model, ids, settings, max_new_tokens=8, seed=0)
    assert "".join(step.text for step in steps) == answer


@pytest.mark.real
@pytest.mark.parametrize(
    ("text", "plain", "with_prompt"),
    [
        # The last column: frequency 0.8 with the prompt's four counted, −3.2 in the logit.
        ("London London London London", 3.369e-4, 3.057e-5),
        ("London, London, London, London,", 0.36565, 0.04970),
    ],
)
def test_the_first_token_is_not_penalised_for_the_prompt(real_model, text, plain, with_prompt):
    ids = [token.id for token in real_model.tokenizer.encode(text, add_bos=True)]
    london = real_model.tokenizer.encode(" London")[0].id
    logits = trace(real_model, ids).logits

    def share(**values):
        settings = SamplingSettings(**values)
        final = final_probabilities(logits, settings, ids, prompt_tokens=len(ids))
        return float(final[london])

    assert share() == pytest.approx(plain, rel=2e-3)
    for values in ({"frequency_penalty": 0.8}, {"presence_penalty": 2.0}, {"penalty_window": 2}):
        assert share(**values) == pytest.approx(plain, rel=2e-3)
    assert share(frequency_penalty=0.8, count_prompt=True) == pytest.approx(with_prompt, rel=2e-3)
