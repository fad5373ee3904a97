"""The comparison of two passes, the sweep against one pass a head, and edits as text."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.basics.distribution import softmax
from engine.basics.errors import EngineError
from engine.interpret import knockout
from engine.observe import edits
from engine.observe.edits import MOST_EDITS, read_edits, write_edits
from engine.tracing.trace import trace
from tests.near import assert_best
from tests.tiny import FAMILIES, tiny_model

IDS = [7, 300, 12, 12, 45, 99, 7, 300]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rows", [knockout.ROWS, 3 * len(IDS)])
def test_a_sweep_gives_what_one_pass_a_head_gives(family, rows, monkeypatch):
    monkeypatch.setattr(knockout, "ROWS", rows)
    model = tiny_model(family)
    plain = trace(model, IDS)
    steps = list(knockout.sweep(plain, 7))
    assert [step.layer for step in steps] == list(range(model.architecture.layers))[::-1]
    for step in steps:
        for head, probability in enumerate(step.probabilities):
            edited = trace(model, IDS, edits=[edits.KnockOutHead(step.layer, head)])
            assert probability == pytest.approx(float(softmax(edited.logits)[7]), abs=1e-6)


def test_a_few_heads_without_a_sweep_give_the_same():
    plain = trace(tiny_model("llama"), IDS)
    swept = {step.layer: step.probabilities for step in knockout.sweep(plain, 7)}
    wanted = [(1, 2), (0, 1), (1, 0)]
    found = knockout.without_heads(plain, 7, wanted)
    assert sorted(found) == sorted(wanted)
    for layer, head in wanted:
        assert found[layer, head] == pytest.approx(float(swept[layer][head]), abs=1e-6)
    with pytest.raises(EngineError, match="no head 99"):
        knockout.without_heads(plain, 7, [(0, 99)])
    edited = trace(plain.model, IDS, edits=[edits.KnockOutHead(0, 0)])
    with pytest.raises(EngineError, match="plain pass"):
        knockout.without_heads(edited, 7, wanted)


def test_a_sweep_leaves_the_model_as_it_was():
    model = tiny_model("llama")
    plain = trace(model, IDS)
    running = knockout.sweep(plain, 7)
    next(running)
    running.close()
    np.testing.assert_array_equal(trace(model, IDS).logits, plain.logits)


def test_a_sweep_stops_when_it_is_told_to():
    plain = trace(tiny_model("llama"), IDS)
    asked = iter([False, False, True])
    assert len(list(knockout.sweep(plain, 7, cancelled=lambda: next(asked)))) == 2


def test_a_sweep_starts_from_the_plain_pass():
    edited = trace(tiny_model("llama"), IDS, edits=[edits.KnockOutMlp(0)])
    with pytest.raises(EngineError, match="restore the model first"):
        next(knockout.sweep(edited, 7))


def test_a_pass_does_not_differ_from_itself():
    plain = trace(tiny_model("gpt2"), IDS)
    found = knockout.difference(plain, plain)
    assert (found.kl, found.total_variation) == (0, 0)
    assert (found.lens_kl == 0).all()
    np.testing.assert_array_equal(found.ranks_before, found.ranks_after)
    assert list(found.ranks_before) == list(range(1, 9))


@pytest.mark.parametrize("family", FAMILIES)
def test_kl_divergence_and_total_variation_are_torchs(family):
    model = tiny_model(family)
    plain = trace(model, IDS)
    edited = trace(model, IDS, edits=[edits.KnockOutAttention(1)])
    found = knockout.difference(plain, edited)
    p, q = (torch.tensor(t.logits, dtype=torch.float64).log_softmax(-1) for t in (plain, edited))
    kl = torch.nn.functional.kl_div(q, p, log_target=True, reduction="sum") / np.log(2)
    assert found.kl == pytest.approx(float(kl), rel=1e-5)
    variation = 0.5 * (p.exp() - q.exp()).abs().sum()
    assert found.total_variation == pytest.approx(float(variation), abs=1e-5)
    # Below the layer that was changed the lens reads the same in both.
    np.testing.assert_allclose(found.lens_kl[:2], 0, atol=1e-6)
    assert found.lens_kl[-1] == pytest.approx(found.kl, abs=1e-4)
    assert_best(found.lens_top_before[-1], plain.logits)
    assert_best(found.lens_top_after[-1], edited.logits)
    order = np.argsort(-edited.logits, kind="stable")
    for token, rank in zip(found.ids, found.ranks_after, strict=True):
        assert order[rank - 1] == token


def test_prompts_of_different_lengths_are_not_compared():
    model = tiny_model("llama")
    with pytest.raises(EngineError, match="8 and 7 tokens"):
        knockout.difference(trace(model, IDS), trace(model, IDS[1:]))


ARCHITECTURE = tiny_model("llama").architecture
small = st.integers(0, 2)
each_edit = st.one_of(
    st.builds(edits.KnockOutHead, small, st.integers(0, 5)),
    st.builds(edits.KnockOutAttention, small),
    st.builds(edits.KnockOutMlp, small),
    st.just(edits.PositionOff()),
    st.builds(edits.ReplaceEmbedding, st.integers(0, 7), st.integers(0, 383)),
)


@given(st.lists(each_edit, max_size=6, unique=True))
def test_edits_come_back_from_their_text(some):
    text = write_edits(some)
    assert read_edits(text, ARCHITECTURE, 8) == (tuple(some), [])
    assert read_edits(text.replace(" ", ", "), ARCHITECTURE, 8) == (tuple(some), [])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("h9.4", "There is no layer 9"),
        ("h0.6", "There is no head 6"),
        ("e8:1", "There is no position 8"),
        ("e0:384", "There is no token id 384"),
        ("m-1", "Edits are written"),
        ("x", "Edits are written"),
        ("h1", "Edits are written"),
        ("<b>", "Edits are written"),
    ],
)
def test_what_can_not_be_read_is_left_out_and_said(text, sentence):
    found, problems = read_edits(f"p {text} m1", ARCHITECTURE, 8)
    assert found == (edits.PositionOff(), edits.KnockOutMlp(1))
    assert len(problems) == 1
    assert f"“{text}”" in problems[0]
    assert sentence in problems[0]


def test_separators_alone_are_no_edits_and_too_many_edits_are_said():
    assert read_edits(" , ,", ARCHITECTURE, 8) == ((), [])
    found, problems = read_edits("p," * (MOST_EDITS + 1), ARCHITECTURE, 8)
    assert found == (edits.PositionOff(),)
    assert problems == [f"{MOST_EDITS + 1} edits are more than {MOST_EDITS}; the rest is left out."]


@settings(max_examples=200)
@given(st.text(max_size=40))
def test_no_text_breaks_the_reading(text):
    found, problems = read_edits(text, ARCHITECTURE, 8)
    assert len(found) + len(problems) <= len(text)
