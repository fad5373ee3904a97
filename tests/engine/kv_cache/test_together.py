"""Who writes together: the same answers as alone, and nobody harmed by another's trouble."""

import threading
import zlib
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.generation.beam import beam_search
from engine.generation.loop import generate
from engine.guardrails.batch import write_rows
from engine.kv_cache.cached_pass import CachedPass
from engine.kv_cache.together import together_with
from engine.network import decode_kernel, few_rows_kernel
from engine.network.decoder import Decoder, Reading
from engine.sampling.chain import SamplingSettings
from engine.speculative.early_exit import early_exit
from engine.speculative.loop import speculate
from engine.speculative.model_draft import ModelDraft
from tests.engine.runs import GREEDY, WARM

SETTINGS = (
    GREEDY,
    WARM,
    SamplingSettings(temperature=1.3, min_p=0.02),
    SamplingSettings(temperature=0.8, top_k=20, repetition_penalty=1.2, presence_penalty=0.3),
)
IDS = [5, 70, 200, 31, 8]


def endless(tiny_model):
    """A tiny Llama that never ends an answer by itself."""
    return replace(tiny_model("llama"), stop_ids=frozenset())


def at_once(tasks):
    """Run functions on a thread each, all let go at the same moment; return what they return."""
    results = [None] * len(tasks)
    gate = threading.Barrier(len(tasks))

    def work(place, task):
        gate.wait()
        results[place] = task()

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(tasks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return results


def written(model, number):
    """What run `number` writes: every token with the probabilities that it was drawn from."""
    rng = np.random.default_rng(number)
    prompt = rng.integers(3, model.architecture.vocabulary, 1 + number % 90).tolist()
    settings, seed = SETTINGS[number % len(SETTINGS)], number // 3
    if number % 10 == 7:
        draft = ModelDraft(early_exit(model, 1), model.architecture.vocabulary)
        rounds = speculate(model, draft, prompt, settings, k=4, max_new_tokens=10, seed=seed)
        return [(one.ids, [(t.p, t.q, t.u) for t in one.proposed]) for one in rounds]
    if number % 10 == 8:
        seeds = [seed, seed + 1, seed + 2]
        steps = write_rows(model, prompt, settings, seeds=seeds, max_new_tokens=8)
        return [[row and (row.id, row.wanted) for row in step] for step in steps]
    if number % 10 == 9:
        return beam_search(model, prompt, width=3, max_new_tokens=5).nodes
    steps = generate(model, prompt, settings, max_new_tokens=10, seed=seed)
    return [(step.id, step.probability, step.raw_probability, step.entropy_bits) for step in steps]


def test_a_hundred_mixed_answers_are_those_of_each_alone_bit_for_bit(tiny_model, monkeypatch):
    model = endless(tiny_model)
    alone = [written(model, number) for number in range(100)]
    companies = []

    def noted(decoder, readings, plain=Decoder.read):
        companies.append(len(readings))
        plain(decoder, readings)

    monkeypatch.setattr(Decoder, "read", noted)
    tasks = [lambda number=number: written(model, number) for number in range(100)]
    together = at_once(tasks[:30]) + at_once(tasks[30:65]) + at_once(tasks[65:])
    assert together == alone
    assert max(companies) >= 20


def test_what_a_row_gets_is_the_same_in_any_company_and_any_pieces(tiny_model):
    """Logits and states, to the last bit: alone, in one piece, in many, beside others."""
    decoder = together_with(tiny_model("llama")).decoder
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 384, 150).tolist()
    whole = Reading(decoder.text(), ids, len(ids))
    decoder.read([whole])
    text, at, sizes = decoder.text(), 0, cycle([1, 3, 30, 2, 64])
    while at < len(ids):
        size = min(next(sizes), len(ids) - at)
        piece = Reading(text, ids[at : at + size], size)
        others = [Reading(decoder.text(), rng.integers(0, 384, n + 1), 1) for n in range(size % 7)]
        decoder.read([*others[:2], piece, *others[2:]])
        np.testing.assert_array_equal(piece.logits, whole.logits[at : at + size])
        np.testing.assert_array_equal(piece.states, whole.states[at : at + size])
        at += size


def test_it_reads_as_the_network_does(tiny_model):
    """Prompts short and longer than one pass takes, with and without a cache before them."""
    model = tiny_model("llama")
    ids = np.random.default_rng(2).integers(0, 384, 200).tolist()
    reading = CachedPass(model)
    found = [reading.advance_many(ids[:130], 130), reading.advance_many(ids[130:], 70)]
    with torch.inference_mode():
        expected = model.network(torch.tensor([ids]), use_cache=False).logits[0].numpy()
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=0, atol=1e-4)


def test_an_error_reaches_only_whose_it_is(tiny_model, monkeypatch):
    model = endless(tiny_model)
    alone = [written(model, number) for number in range(6)]

    def fails(decoder, readings, plain=Decoder.read):
        if any(99 in one.ids for one in readings):
            raise MemoryError("no room")
        plain(decoder, readings)

    monkeypatch.setattr(Decoder, "read", fails)

    def troubled():
        with pytest.raises(MemoryError, match="no room"):
            CachedPass(model).advance([99])
        return "told"

    tasks = [lambda number=number: written(model, number) for number in range(6)]
    assert at_once([troubled, *tasks, troubled]) == ["told", *alone, "told"]


def test_who_leads_can_be_ended_and_the_others_go_on(tiny_model, monkeypatch):
    """Its thread ends while it waits for the model: the lead goes on to the next one."""
    model = endless(tiny_model)
    lock = model.lock
    plain = type(lock).acquire
    ended = []

    def acquire(self):
        if not ended:
            ended.append(True)
            raise SystemExit
        plain(self)

    expected = CachedPass(model).advance(IDS)
    monkeypatch.setattr(type(lock), "acquire", acquire)

    def quits():
        with pytest.raises(SystemExit):
            CachedPass(model).advance(IDS)

    quits()
    found = at_once([lambda: CachedPass(model).advance(IDS) for _ in range(8)])
    for logits in found:
        np.testing.assert_array_equal(logits, expected)
    assert not lock.locked()


def test_ids_outside_the_vocabulary_are_refused_before_anybody_reads(tiny_model):
    model = tiny_model("llama")
    with pytest.raises(EngineError, match="no token id 384"):
        CachedPass(model).advance([3, 384])


def test_a_copy_of_a_network_reads_by_itself(tiny_model):
    model = tiny_model("llama")
    short = early_exit(model, 2)
    assert together_with(model) is together_with(model)
    assert together_with(short) is not together_with(model)
    assert together_with(tiny_model("gpt2")) is None


def test_the_compiled_pass_knows_which_product_it_was_compiled_with():
    source = Path(few_rows_kernel.__file__).read_bytes()
    assert zlib.crc32(source) == decode_kernel.PRODUCT_CHECKSUM, "set the number in decode_kernel"
