"""The loop: right tokens, right ends, right text, and nothing left behind."""

import gc
import json
import threading
import time
import weakref
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from engine.cached_pass import CachedPass
from engine.errors import EngineError
from engine.generate import generate, top, uniforms
from engine.sampling import SamplingSettings, SettingsError, draw, final_probabilities, softmax
from tests.tiny import FAMILIES

GREEDY = SamplingSettings(temperature=0)
WARM = SamplingSettings(temperature=1.2, top_k=50, top_p=0.95, repetition_penalty=1.1)
END = 2  # <|im_end|> of the tiny tokenizer


def ids_of(model, text):
    return [token.id for token in model.tokenizer.encode(text)]


def text_of(steps):
    return "".join(step.text for step in steps)


def run(model, ids, settings=GREEDY, *, max_new_tokens=20, seed=0, **kwargs):
    return list(generate(model, ids, settings, max_new_tokens=max_new_tokens, seed=seed, **kwargs))


class Scripted:
    """A stand-in for a network: it wants to write the given tokens, one after the other."""

    def __init__(self, model, tokens, prompt_length):
        self.config, self.device = model.network.config, model.network.device
        self.vocabulary = model.architecture.vocabulary
        self.tokens, self.prompt_length = tokens, prompt_length
        self.read = 0
        self.caches = []

    def __call__(self, *, input_ids, cache, use_cache, logits_to_keep):
        self.read += input_ids.shape[1]
        self.caches.append(weakref.ref(cache))
        logits = torch.zeros(1, 1, self.vocabulary)
        logits[0, 0, self.tokens[self.read - self.prompt_length]] = 50.0
        return SimpleNamespace(logits=logits)


@pytest.fixture
def scripted(tiny_model):
    """A function that makes a model which answers "x" with the given texts or ids."""
    model = tiny_model("llama")

    def make(*parts):
        tokens = []
        for part in parts:
            tokens += [part] if isinstance(part, int) else ids_of(model, part)
        prompt = ids_of(model, "x")
        return replace(model, network=Scripted(model, [*tokens, *[END] * 50], len(prompt))), prompt

    return make


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
        assert [step.id for step in steps] == expected
        assert steps[-1].stop_reason == ("end token" if expected[-1] == END else "token budget")


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
        assert logits.argmax() == whole.argmax()
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
        assert step.id == draw(final, u)
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


def test_top_sorts_equals_by_id():
    probabilities = np.array([0.1, 0.2, 0.1, 0.0, 0.2, 0.1, 0.3], dtype=np.float32)
    assert [i for i, _ in top(probabilities, 4)] == [6, 1, 4, 0]
    assert [i for i, _ in top(probabilities, 50)] == [6, 1, 4, 0, 2, 5]


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


# --- text and its ends ----------------------------------------------------------------------------


def test_the_end_token_is_a_step_and_no_text(scripted):
    model, prompt = scripted("The cat sat")
    steps = run(model, prompt)
    assert text_of(steps) == "The cat sat"
    assert steps[-1].id == END
    assert steps[-1].data == b"<|im_end|>"
    assert steps[-1].stop_reason == "end token"


def test_streamed_text_is_the_decoded_whole(tiny_model):
    """Random models write broken UTF-8; the text is that of all bytes at once all the same."""
    model = replace(tiny_model("gemma2"), stop_ids=frozenset())
    hot = SamplingSettings(temperature=5.0)
    for seed in range(4):
        steps = run(model, ids_of(model, "a"), hot, seed=seed, max_new_tokens=30)
        assert text_of(steps) == model.tokenizer.decode([step.id for step in steps])


def test_a_character_is_shown_when_its_last_byte_is_there(scripted):
    model, prompt = scripted("a😀b")
    steps = run(model, prompt)
    assert [step.text for step in steps] == ["a", "", "", "", "😀", "b", ""]
    assert steps[1].data + steps[2].data + steps[3].data + steps[4].data == "😀".encode()


@pytest.mark.parametrize("budget", [2, 3, 4])
def test_half_an_emoji_at_the_end_of_the_budget_is_flushed(scripted, budget):
    model, prompt = scripted("a😀b")
    steps = run(model, prompt, max_new_tokens=budget)
    assert text_of(steps) == "a\ufffd"
    assert steps[-1].stop_reason == "token budget"


def test_half_an_emoji_before_the_end_token_is_flushed(scripted):
    model, _ = scripted()
    half = ids_of(model, "😀")[:2]
    model, prompt = scripted("a", *half)
    assert text_of(run(model, prompt)) == "a\ufffd"


@pytest.mark.parametrize(
    ("answer", "stop", "text", "reason"),
    [
        ("The cat sat", ["cat"], "The ", "stop string"),  # a token of its own
        ("The cat sat", ["e c"], "Th", "stop string"),  # over a token boundary
        ("The cat sat", ["The cat s"], "", "stop string"),  # over three tokens, from the start
        ("The cat sat", ["h"], "T", "stop string"),  # inside a token
        ("The cat sat", ["cat sat on"], "The cat sat", "end token"),  # held back, then released
        ("The cat cats", ["cats"], "The cat ", "stop string"),  # begun twice
        ("a😀b", ["😀"], "a", "stop string"),
        ("a😀b", ["\ufffd"], "a😀b", "end token"),
        ("<b>&amp;", ["</b>", "&amp"], "<b>", "stop string"),
    ],
)
def test_stop_strings(scripted, answer, stop, text, reason):
    model, prompt = scripted(answer)
    steps = run(model, prompt, stop=stop, max_new_tokens=40)
    assert text_of(steps) == text
    assert steps[-1].stop_reason == reason


def test_a_stop_string_ends_the_loop_with_the_token_that_completes_it(scripted):
    model, prompt = scripted("The cat sat on the mat")
    steps = run(model, prompt, stop=["cat"])
    whole = model.tokenizer.decode([step.id for step in steps])
    assert "cat" in whole
    assert "cat" not in model.tokenizer.decode([step.id for step in steps[:-1]])


def test_the_budget_releases_what_a_stop_string_held_back(scripted):
    model, prompt = scripted("abcdef")
    steps = run(model, prompt, stop=["bcdex"], max_new_tokens=4)
    assert text_of(steps) == "abcd"


def test_the_context_is_a_limit(tiny_model):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    ids = ids_of(model, "The cat")
    short = replace(model, architecture=replace(model.architecture, context=len(ids) + 3))
    steps = run(short, ids)
    assert len(steps) == 3
    assert steps[-1].stop_reason == "context limit"
    assert run(short, ids, max_new_tokens=3)[-1].stop_reason == "token budget"


# --- cancelling and closing -----------------------------------------------------------------------


def test_a_cancelled_run_ends_within_a_token_and_keeps_its_text(scripted):
    model, prompt = scripted("The cat sat on the mat")
    flag = threading.Event()
    steps = []
    for step in generate(
        model, prompt, GREEDY, max_new_tokens=50, seed=0, stop=["cat on"], cancelled=flag.is_set
    ):
        steps.append(step)
        if text_of(steps).startswith("The"):
            flag.set()
    first = next(i for i in range(len(steps)) if text_of(steps[: i + 1]).startswith("The"))
    assert len(steps) == first + 2
    assert steps[-1].stop_reason == "cancelled"
    assert text_of(steps) == model.tokenizer.decode([step.id for step in steps])


def test_a_run_cancelled_before_it_began_does_nothing(scripted):
    model, prompt = scripted("The cat")
    assert run(model, prompt, cancelled=lambda: True) == []
    assert model.network.read == 0


def test_closing_the_generator_frees_the_cache_and_leaves_the_lock_free(scripted):
    model, prompt = scripted("The cat sat on the mat")
    steps = generate(model, prompt, GREEDY, max_new_tokens=50, seed=0)
    next(steps)
    next(steps)
    cache = model.network.caches[0]
    assert cache() is not None
    steps.close()
    gc.collect()
    assert cache() is None
    assert not model.lock.locked()
    assert model.network.read == len(prompt) + 1


def test_an_error_in_the_pass_leaves_the_lock_free(scripted):
    model, prompt = scripted("a")

    def broken(**_):
        raise RuntimeError("no memory")

    broken.config, broken.device = model.network.config, model.network.device
    model = replace(model, network=broken)
    with pytest.raises(RuntimeError, match="no memory"):
        run(model, prompt)
    assert not model.lock.locked()


# --- several runs at once -------------------------------------------------------------------------


def test_interleaved_runs_give_the_texts_that_they_give_alone(tiny_model):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    prompts = [ids_of(model, text) for text in ("The cat", "Why is the sky blue?", "Roses are")]
    alone = [run(model, ids, WARM, seed=i) for i, ids in enumerate(prompts)]
    runs = [generate(model, ids, WARM, max_new_tokens=20, seed=i) for i, ids in enumerate(prompts)]
    together = list(zip(*(zip(*runs, strict=True)), strict=True))
    for one, other in zip(alone, together, strict=True):
        assert [step.id for step in one] == [step.id for step in other]
        assert text_of(one) == text_of(other)


def test_runs_in_threads_take_turns(tiny_model):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    ids = ids_of(model, "The cat")
    alone = [text_of(run(model, ids, WARM, seed=seed)) for seed in (0, 1)]
    texts, order = {}, []
    ready = threading.Barrier(2)

    def work(seed):
        ready.wait()
        steps = []
        for step in generate(model, ids, WARM, max_new_tokens=20, seed=seed):
            steps.append(step)
            order.append(seed)
        texts[seed] = text_of(steps)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [texts[0], texts[1]] == alone
    # Nobody waits for the whole of the other's text.
    assert order.index(1) < 20
    assert order.index(0) < 20


def test_the_lock_is_free_between_two_steps(tiny_model):
    model = tiny_model("llama")
    for _ in generate(model, ids_of(model, "The"), WARM, max_new_tokens=3, seed=0):
        assert not model.lock.locked()


def test_milliseconds_do_not_count_the_wait_for_others(scripted):
    model, prompt = scripted("The cat")
    steps = generate(model, prompt, GREEDY, max_new_tokens=5, seed=0)
    model.lock.acquire()
    threading.Timer(0.3, model.lock.release).start()
    start = time.perf_counter()
    step = next(steps)
    assert time.perf_counter() - start > 0.25
    assert step.milliseconds < 200


# --- what is refused, before anything runs --------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ids": []}, "There are no tokens to continue"),
        ({"ids": [1] * 512}, "The prompt has 512 tokens, which leaves no room"),
        ({"ids": [99_999]}, "The token id 99999 does not exist"),
        ({"ids": [-1]}, "The token id -1 does not exist"),
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

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "greedy.json").read_text())
WHOLE = {"The capital of France is", "Once upon a time, in a village by the sea,"}
"""The prompts whose answers the loop writes whole here, one to its end token and one to all 64
tokens; of the others the first 10 tokens.

All 20 x 64 tokens one by one take minutes on two busy cores. For the rest the definition stands
in: one pass over a prompt and its recorded answer has every recorded token as its argmax, with a
margin larger than cached and uncached logits may differ. To let the loop write all of them, run
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
    best = logits.topk(2)
    assert best.indices[:, 0].tolist() == tokens
    assert float((best.values[:, 0] - best.values[:, 1]).min()) > 2e-4


@pytest.mark.real
@pytest.mark.parametrize("entry", RECORDED, ids=[entry["prompt"][:20] for entry in RECORDED])
def test_greedy_is_generate_on_the_default_model(real_model, entry):
    count = 64 if entry["prompt"] in WHOLE else 10
    steps = run(real_model, entry["ids"], max_new_tokens=count)
    assert [step.id for step in steps] == entry["tokens"][:count]


@pytest.mark.real
def test_the_default_model_says_paris(real_model):
    step = run(real_model, ids_of(real_model, "The capital of France is"), max_new_tokens=1)[0]
    assert step.text == " Paris"
    assert step.raw_probability == pytest.approx(0.77, abs=0.01)
