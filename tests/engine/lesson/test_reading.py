"""What the ten guesses measure without writing, against single passes and the recorded figures."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.basics.distribution import softmax
from engine.basics.errors import EngineError
from engine.lesson import reading
from engine.observe.edits import KnockOutHead
from engine.tracing.trace import trace
from tests.tiny import tiny_model

PROMPT = "The capital of France is"


@pytest.fixture(scope="module")
def model():
    return tiny_model("llama")


def test_the_pieces_of_a_word_join_to_the_word(model):
    found = reading.cut(model, "strawberry")
    assert b"".join(found.alone) == b"strawberry"
    assert b"".join(found.after_space) == b" strawberry"


def test_two_orders_are_one_to_the_first_layer_alone_when_nobody_tells_positions(model):
    found = reading.two_orders(model, "one two,", "two one,", 4)
    assert found.first_layer_untold < 1e-5 < found.first_layer
    assert found.last_layer_untold > 1e-5
    assert found.told != found.untold


def test_looking_takes_away_what_one_pass_per_head_takes_away(model):
    found = reading.looking(model, PROMPT, "France")
    ids = model.tokenizer.ids(PROMPT)
    plain = trace(model, ids)
    answer = int(plain.logits.argmax())
    assert found.probability == pytest.approx(float(softmax(plain.logits)[answer]), abs=1e-6)
    place = next(i for i, t in enumerate(model.tokenizer.encode(PROMPT)) if t.end >= 21)
    for worth in (found.needed, found.useless):
        edited = trace(model, ids, edits=[KnockOutHead(worth.layer, worth.head)])
        assert worth.without == pytest.approx(float(softmax(edited.logits)[answer]), abs=1e-6)
        row = plain.pattern(worth.layer)[worth.head, -1]
        assert worth.attention == pytest.approx(float(row[place]), abs=1e-6)
    assert found.needed.without <= found.useless.without
    with pytest.raises(EngineError, match="Spain"):
        reading.looking(model, PROMPT, "Spain")


def test_an_expected_answer_has_the_sum_of_its_spellings(model):
    found = reading.expected(model, PROMPT, " Paris", " paris")
    ids = model.tokenizer.ids(PROMPT)
    with torch.inference_mode():
        logits = model.network(torch.tensor([ids])).logits[0, -1].numpy()
    first = {model.tokenizer.after(PROMPT, text)[0].id for text in (" Paris", " paris")}
    shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert found.probability == pytest.approx(sum(float(shares[i]) for i in first), abs=1e-6)
    assert found.top_probability == pytest.approx(float(shares.max()), abs=1e-6)
    assert found.is_top == (int(logits.argmax()) in first)
    assert (found.rank == 1) == found.is_top


def test_the_default_model_gives_the_lessons_figures(real_model):
    """Measured once with a forward pass of its own in numpy, on the same weights."""
    cut = reading.cut(real_model, "strawberry")
    assert cut.alone == (b"st", b"raw", b"berry")
    assert cut.after_space == (b" strawberry",)
    heads = reading.looking(real_model, PROMPT, "France")
    assert heads.answer == b" Paris"
    for worth, place, attention, without in (
        (heads.needed, (23, 4), 0.90, 0.14),
        (heads.useless, (16, 0), 0.78, 0.77),
        (heads.idle, (0, 4), 0.06, 0.21),
    ):
        assert (worth.layer, worth.head) == place
        assert worth.attention == pytest.approx(attention, abs=0.01)
        assert worth.without == pytest.approx(without, abs=0.01)
    sun = reading.expected(real_model, "The sun revolves around the", " Earth", " earth")
    assert sun.probability == pytest.approx(0.94, abs=0.01)
    back = reading.expected(real_model, "Paris is the capital of", " France")
    assert back.probability == pytest.approx(0.07, abs=0.005)
