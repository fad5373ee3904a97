"""Speculative decoding: the same text in greedy, and what a round says."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.basics.errors import EngineError
from engine.generation.loop import generate
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, final_probabilities
from engine.speculative.drafts import PromptLookup
from engine.speculative.early_exit import early_exit
from engine.speculative.loop import speculate
from engine.speculative.model_draft import ModelDraft
from tests.engine.runs import END, GREEDY, WARM, ids_of, ids_written
from tests.near import assert_same_text
from tests.tiny import FAMILIES


def drafts_of(model):
    vocabulary = model.architecture.vocabulary
    return (
        PromptLookup(vocabulary, model.stop_ids),
        ModelDraft(early_exit(model, 1), vocabulary),
        ModelDraft(model, vocabulary),
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_is_plain_greedy(tiny_model, family):
    model = tiny_model(family)
    ids = ids_of(model, "The cat sat on the mat. The cat sat")
    plain = [s.id for s in generate(model, ids, GREEDY, max_new_tokens=24, seed=0)]
    for draft, k in itertools.product(drafts_of(model), (1, 4)):
        rounds = list(speculate(model, draft, ids, GREEDY, k=k, max_new_tokens=24, seed=0))
        assert_same_text(model, ids, ids_written(rounds), plain, GREEDY)


def test_greedy_with_penalties_is_plain_greedy(tiny_model):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    settings = SamplingSettings(temperature=0, repetition_penalty=1.4, frequency_penalty=0.3)
    ids = ids_of(model, "The cat sat on the mat")
    plain = [s.id for s in generate(model, ids, settings, max_new_tokens=30, seed=0)]
    for number in range(3):
        draft = drafts_of(model)[number]
        rounds = speculate(model, draft, ids, settings, k=5, max_new_tokens=30, seed=0)
        assert_same_text(model, ids, ids_written(rounds), plain, settings)


def test_the_target_as_its_own_draft_is_never_rejected(tiny_model):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    draft = ModelDraft(model, model.architecture.vocabulary)
    rounds = list(speculate(model, draft, [5, 6], WARM, k=3, max_new_tokens=16, seed=1))
    assert [part.accepted for part in rounds] == [3, 3, 3, 3]
    assert {part.source for part in rounds} == {"bonus"}


@pytest.mark.parametrize("budget", range(1, 8))
def test_the_budget_is_met_exactly(tiny_model, budget):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    draft = ModelDraft(model, model.architecture.vocabulary)
    rounds = list(speculate(model, draft, [5, 6], GREEDY, k=3, max_new_tokens=budget, seed=0))
    assert len(ids_written(rounds)) == budget
    assert [part.stop_reason for part in rounds][-1] == "token budget"
    assert all(part.stop_reason is None for part in rounds[:-1])


@pytest.mark.slow
def test_nothing_follows_an_end_token(tiny_model):
    model = tiny_model("llama")
    settings = SamplingSettings(temperature=1.5, logit_bias={END: 4.0})
    for seed in range(30):
        draft = drafts_of(model)[seed % 3]
        rounds = list(
            speculate(model, draft, [5, 6, 5, 6], settings, k=4, max_new_tokens=40, seed=seed)
        )
        ids = ids_written(rounds)
        assert END not in ids[:-1]
        assert (ids[-1] == END) == (rounds[-1].stop_reason == "end token")


def test_a_round_tells_what_happened(tiny_model):
    model = replace(tiny_model("llama"), stop_ids=frozenset())
    draft = ModelDraft(early_exit(model, 1), model.architecture.vocabulary)
    rounds = list(speculate(model, draft, [5, 6, 7], WARM, k=4, max_new_tokens=40, seed=3))
    assert any(part.source == "redrawn" for part in rounds)
    for part in rounds:
        fates = [token.fate for token in part.proposed]
        expected = ["accepted"] * part.accepted
        if part.source == "redrawn":
            expected.append("rejected")
            assert sum(row.probability for row in part.residual) <= 1 + 1e-5
            assert part.last.id in {row.id for row in part.residual}
        assert fates == expected + ["not checked"] * (len(fates) - len(expected))
        for token in part.proposed:
            assert (token.u is None) == (token.fate == "not checked")
            if token.u is not None:
                assert (token.u * token.q < token.p) == (token.fate == "accepted")
        kept = [token.id for token in part.proposed if token.fate == "accepted"]
        assert list(part.ids) == [*kept, part.last.id]


def test_the_cache_holds_what_was_kept(tiny_model):
    """Each next distribution is that of one pass over the whole text, without a cache."""
    model = replace(tiny_model("mistral"), stop_ids=frozenset())
    ids = ids_of(model, "The cat sat on the mat and the dog")
    draft = ModelDraft(early_exit(model, 1), model.architecture.vocabulary)
    text = list(ids)
    for part in speculate(model, draft, ids, WARM, k=3, max_new_tokens=30, seed=0):
        for offset, token in enumerate(part.proposed[: part.accepted]):
            context = text + [one.id for one in part.proposed[:offset]]
            p = final_probabilities(CachedPass(model).advance(context), WARM, context)
            assert token.p == pytest.approx(float(p[token.id]), abs=1e-4)
        text += part.ids


@pytest.mark.parametrize("change", [{"k": 0}, {"max_new_tokens": 0}])
def test_bad_requests_are_refused_at_once(tiny_model, change):
    model = tiny_model("llama")
    arguments = {"k": 2, "max_new_tokens": 4, "seed": 0} | change
    with pytest.raises(EngineError, match="must be at least 1"):
        speculate(model, drafts_of(model)[0], [5], GREEDY, **arguments)


RECORDED = json.loads((Path(__file__).parents[2] / "data" / "greedy.json").read_text())


@pytest.mark.real
@pytest.mark.parametrize("number", range(2), ids=["lookup", "early exit"])
def test_greedy_on_the_default_model(real_model, number):
    """A recorded prompt each; `benchmarks/speculating.py` compares all 20 x 64 tokens."""
    entry = RECORDED[number]
    vocabulary = real_model.architecture.vocabulary
    draft = (
        PromptLookup(vocabulary, real_model.stop_ids),
        ModelDraft(early_exit(real_model, 10), vocabulary),
    )[number]
    rounds = speculate(real_model, draft, entry["ids"], GREEDY, k=4, max_new_tokens=64, seed=0)
    assert_same_text(real_model, entry["ids"], ids_written(rounds), entry["tokens"], GREEDY)
