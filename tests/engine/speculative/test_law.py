"""Speculative decoding has the exact law of the target: small vocabularies and the real model."""

from collections import Counter
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from engine.basics.statistics import chi_square
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, final_probabilities
from engine.speculative.distilled import DistilledDraft, load_parts
from engine.speculative.drafts import PromptLookup
from engine.speculative.early_exit import early_exit
from engine.speculative.law import check_law, compared, count_texts, exact_law
from engine.speculative.loop import speculate
from engine.speculative.model_draft import ModelDraft
from tests.engine.runs import ROUNDS, P, Q, ids_of, ids_written

# --- one guess, many times, on a small vocabulary -------------------------------------------------


def test_one_check_has_the_law_of_the_target():
    found = check_law(P, Q, rounds=ROUNDS, seed=1)
    assert sum(found.counts) == ROUNDS
    assert found.acceptance == pytest.approx(0.6)
    assert found.accepted == pytest.approx(0.6, abs=0.015)
    assert found.residual == pytest.approx((1, 0, 0), abs=1e-6)
    assert found.total_variation < 0.01
    assert found.p_value > 1e-3


def test_the_law_check_notices_a_wrong_law():
    """Accepted by equality with a draw from p, as a naive checker does: p * q, normalised."""
    wrong = P * Q / (P * Q).sum()
    counts = [round(float(share) * ROUNDS) for share in wrong]
    assert chi_square(counts, [float(share) * ROUNDS for share in P]).p_value < 1e-9


# --- whole runs on a table of logits: three tokens, exact law -------------------------------------


class Table:
    """Stands in for `CachedPass`: logits from a table of contexts, made up where it has none."""

    def __init__(self, model, *, rewindable=False, keep_states=False):
        assert not keep_states
        self.model, self.read, self.milliseconds = model, [], 0.0

    @property
    def tokens(self):
        return len(self.read)

    def advance_many(self, ids, last):
        rows = []
        for token_id in ids:
            self.read.append(token_id)
            rows.append(self.model.logits(tuple(self.read)))
        return np.array(rows[-last:], np.float32)

    def advance(self, ids):
        return self.advance_many(ids, 1)[0]

    def rewind(self, tokens):
        del self.read[tokens:]


def use_tables(monkeypatch):
    for module in ("loop", "model_draft", "law"):
        monkeypatch.setattr(f"engine.speculative.{module}.CachedPass", Table)


def table_model(logits, vocabulary, stop_ids=frozenset()):
    return SimpleNamespace(
        name="table",
        logits=logits,
        architecture=SimpleNamespace(vocabulary=vocabulary, context=100),
        stop_ids=stop_ids,
        tokenizer=SimpleNamespace(bytes_of=lambda token_id: bytes([token_id % 256])),
    )


def made_up(seed, vocabulary, spread=1.5):
    known = {}

    def logits(context):
        if context not in known:
            entropy = [seed, len(context), *context]
            known[context] = np.random.default_rng(entropy).normal(0, spread, vocabulary)
        return known[context]

    return logits


def assert_law(seen, law):
    found = compared(seen, law)
    assert found.p_value > 1e-3
    assert found.total_variation < 3 * found.by_chance + 1e-9


SETTINGS = {
    "plain": SamplingSettings(),
    "chain": SamplingSettings(temperature=0.8, top_k=3, top_p=0.9),
    "penalties": SamplingSettings(repetition_penalty=1.6, presence_penalty=0.7),
}


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("kind", ["model", "lookup"])
def test_three_tokens_have_the_exact_law(monkeypatch, settings, kind):
    use_tables(monkeypatch)
    stops = frozenset({3})
    target = table_model(made_up(1, 4), 4, stops)
    other = table_model(made_up(2, 4), 4, stops)
    prompt, runs = (0, 1, 2, 0, 1), 1500
    law = exact_law(target, prompt, settings)
    seen = Counter()
    for seed in range(runs):
        draft = ModelDraft(other, 4) if kind == "model" else PromptLookup(4, stops)
        rounds = speculate(target, draft, prompt, settings, k=2, max_new_tokens=3, seed=seed)
        seen[tuple(ids_written(rounds))] += 1
    assert_law(seen, law)


def test_a_law_that_cannot_be_is_noticed():
    law = {(1,): 0.5, (2,): 0.5}
    fair = compared({(1,): 52, (2,): 48}, law)
    assert fair.total_variation == pytest.approx(0.02)
    assert fair.by_chance == pytest.approx(0.0399, abs=1e-4)  # sqrt(2 / pi) * 0.05
    assert fair.p_value == pytest.approx(0.689, abs=1e-3)  # chi-square 0.16, one degree of freedom
    assert compared({(1,): 80, (2,): 20}, law).p_value < 1e-6
    assert compared({(1,): 50, (3,): 50}, law).p_value == 0


@pytest.mark.slow
def test_texts_of_a_model_are_counted_beside_their_law(tiny_model):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    ids = ids_of(model, "The cat")
    settings = SamplingSettings(temperature=0.7, repetition_penalty=1.3)

    def make_draft():
        return ModelDraft(early_exit(model, 1), 384)

    *_, found = count_texts(model, make_draft, ids, settings, runs=200, seed=3)
    assert (found.runs, sum(found.counts.values()), len(found.expected)) == (200, 200, 27)
    assert sum(found.expected.values()) == pytest.approx(1, abs=1e-5)
    one = next(iter(found.counts))
    chance, context = 1.0, list(ids)
    for token_id in one:  # the naive way: a fresh pass for each token
        with torch.inference_mode():
            logits = model.network(torch.tensor([context])).logits[0, -1].numpy()
        chance *= float(final_probabilities(logits, replace(settings, top_k=3), context)[token_id])
        context.append(token_id)
    assert found.expected[one] == pytest.approx(chance, rel=1e-3)
    assert_law(found.counts, found.expected)


@pytest.mark.real
def test_three_tokens_of_the_default_model_have_the_exact_law(real_model):
    """With the draft that was trained for it; the page counts 300 runs with any draft."""
    parts = load_parts(real_model)
    ids = ids_of(real_model, "Roses are red, violets are")
    make = partial(DistilledDraft, real_model, parts)
    *_, found = count_texts(real_model, make, ids, SamplingSettings(), runs=30, seed=1)
    assert_law(found.counts, found.expected)


@pytest.mark.real
def test_three_tokens_after_an_early_exit_have_the_exact_law(real_model, monkeypatch):
    """Its own logits, and those of its first 10 layers, on the ids that can come up."""
    settings = SamplingSettings(top_k=3)
    prompt = tuple(ids_of(real_model, "Roses are red, violets are"))
    short = early_exit(real_model, 10)
    found = {}
    for name, model in (("target", real_model), ("draft", short)):
        contexts = [prompt]
        for _ in range(3):
            reached = []
            for context in contexts:
                logits = CachedPass(model).advance(context)
                found[name, context] = logits
                best = np.argsort(-logits)[:2]
                reached += [(*context, int(token_id)) for token_id in best]
            contexts = reached
    ids = sorted({int(i) for row in found.values() for i in np.argsort(-row)[:3]} | set(prompt))
    place = {token_id: number for number, token_id in enumerate(ids)}

    def reduced(name):
        rows = {
            tuple(place[token_id] for token_id in context): row[ids]
            for (who, context), row in found.items()
            if who == name
        }
        elsewhere = made_up(5, len(ids))
        return lambda context: rows[context] if context in rows else elsewhere(context)

    use_tables(monkeypatch)
    target, draft = (table_model(reduced(name), len(ids)) for name in ("target", "draft"))
    start, runs, seen = tuple(place[token_id] for token_id in prompt), 1000, Counter()
    law = exact_law(target, start, settings)
    for seed in range(runs):
        guessing = ModelDraft(draft, len(ids))
        rounds = speculate(target, guessing, start, settings, k=3, max_new_tokens=3, seed=seed)
        seen[tuple(ids_written(rounds))] += 1
    assert_law(seen, law)
