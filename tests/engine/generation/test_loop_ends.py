"""The loop: how a text ends, is cancelled, and leaves nothing behind; several runs at once."""

import gc
import threading
import time
from dataclasses import replace

import pytest

from engine.generation.loop import generate
from engine.sampling.chain import SamplingSettings
from tests.engine.runs import END, GREEDY, WARM, ids_of, run, text_of

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
    broken.modules = model.network.modules
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
