"""The head that is shown: its pattern, its loss, and that it is the one that is missed most."""

import numpy as np
import pytest

from engine.basics.distribution import softmax
from engine.basics.errors import EngineError
from engine.interpret.attribution import head_attribution
from engine.observe.edits import KnockOutHead
from engine.overview.facts import RemovalFact
from engine.overview.heads import SHORT_LIST, head_fact, last_rows, mattering_head
from engine.tracing.trace import trace
from tests.tiny import FAMILIES, tiny_model

IDS = [7, 300, 12, 12, 45, 99, 7, 300]


@pytest.fixture(scope="module", params=FAMILIES)
def traced(request):
    return trace(tiny_model(request.param), IDS)


def test_the_shortcut_to_the_last_rows_is_the_pattern(traced):
    for layer in range(traced.architecture.layers):
        np.testing.assert_allclose(
            last_rows(traced, layer), traced.pattern(layer)[:, -12:], rtol=1e-5, atol=1e-6
        )


def test_the_loss_is_that_of_a_pass_without_the_head(traced):
    fact = mattering_head(traced)
    answer = int(traced.logits.argmax())
    edited = trace(traced.model, IDS, edits=[KnockOutHead(fact.layer, fact.head)])
    assert fact.removal.id == answer
    assert fact.removal.before == pytest.approx(float(softmax(traced.logits)[answer]), abs=1e-4)
    assert fact.removal.after == pytest.approx(float(softmax(edited.logits)[answer]), abs=1e-4)


def test_no_other_head_of_the_short_list_is_missed_more(traced):
    fact = mattering_head(traced)
    heads = traced.architecture.heads
    terms = head_attribution(traced, fact.removal.id).sum(axis=-1).ravel()
    for place in np.argsort(-terms)[:SHORT_LIST]:
        edit = KnockOutHead(int(place) // heads, int(place) % heads)
        without = softmax(trace(traced.model, IDS, edits=[edit]).logits)[fact.removal.id]
        assert without >= fact.removal.after - 1e-4


def test_the_pattern_and_what_is_read_are_the_traces(traced):
    fact = mattering_head(traced)
    pattern = traced.pattern(fact.layer)[fact.head]
    np.testing.assert_allclose(fact.pattern, pattern[fact.first :, fact.first :], atol=1e-4)
    assert fact.weight == pytest.approx(float(pattern[-1, fact.reads]), abs=1e-5)
    assert fact.reads > 0


def test_a_head_must_exist(traced):
    with pytest.raises(EngineError, match="99"):
        head_fact(traced, 99, 0, RemovalFact(0, "", 0.5, 0.4))


@pytest.mark.real
def test_the_head_that_reads_france_is_shown(real_model):
    ids = real_model.tokenizer.ids("The capital of France is", add_bos=True)
    fact = mattering_head(trace(real_model, ids))
    assert (fact.layer, fact.head) == (23, 4)
    assert real_model.tokenizer.bytes_of(ids[fact.reads]) == b" France"
    assert fact.removal.before == pytest.approx(0.77, abs=0.01)
    assert fact.removal.after == pytest.approx(0.14, abs=0.01)
