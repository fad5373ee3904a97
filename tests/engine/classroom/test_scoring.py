"""The class against the model: shares, bits and readings, against sums written out by hand."""

import math

import numpy as np
import pytest

from engine.basics.distribution import softmax
from engine.basics.errors import EngineError
from engine.classroom.scoring import class_probability, score
from tests.tiny import tiny_model

VOCABULARY = 384


@pytest.fixture
def tokenizer():
    return tiny_model("llama").tokenizer


@pytest.fixture
def logits():
    return np.random.default_rng(3).normal(size=VOCABULARY).astype(np.float32)


def test_shares_and_bits_are_those_of_the_sum_by_hand(tokenizer, logits):
    cat, dog = (tokenizer.ids(f" {word}")[0] for word in ("cat", "dog"))
    logits[[cat, dog]] = 5.0, 4.0
    found = score(tokenizer, logits, cat, ["cat", "dog", "cat", "cat"])
    p = softmax(logits)
    assert found.answers == 4
    assert found.came.token_id == cat
    assert (found.came.voices, found.came.class_share) == (3, 0.75)
    assert found.came.model_probability == pytest.approx(float(p[cat]))
    assert found.class_bits == pytest.approx(-math.log2((3 + 1 / VOCABULARY) / 5))
    assert found.model_bits == pytest.approx(-math.log2(float(p[cat])))
    by_id = {row.token_id: row for row in found.rows}
    assert by_id[dog].voices == 1
    shares = [max(row.class_share, row.model_probability) for row in found.rows]
    assert shares == sorted(shares, reverse=True)


def test_the_probabilities_of_a_class_sum_to_one_over_the_vocabulary():
    voices = [3, 1, 1] + [0] * (VOCABULARY - 3)
    whole = sum(class_probability(count, 5, VOCABULARY) for count in voices)
    assert whole == pytest.approx(1.0)
    assert class_probability(0, 0, VOCABULARY) == pytest.approx(1 / VOCABULARY)


def test_a_token_that_nobody_gave_costs_the_class_many_bits_and_no_infinity(tokenizer, logits):
    found = score(tokenizer, logits, 7, ["cat"])
    assert found.came.voices == 0
    assert found.class_bits == pytest.approx(math.log2(2 * VOCABULARY))
    assert 7 in {row.token_id for row in found.rows}, "the token that came has its row"


def test_a_round_without_answers_scores_the_model_alone(tokenizer, logits):
    found = score(tokenizer, logits, 7, [])
    assert found.class_bits is None
    assert found.answers == 0
    assert found.model_bits > 0


def test_a_word_of_several_tokens_is_one_voice_for_its_first(tokenizer, logits):
    pieces = tokenizer.ids(" zebra")
    assert len(pieces) > 1
    logits[pieces[0]] = 9.0
    found = score(tokenizer, logits, pieces[0], ["zebra"])
    assert found.words[0].ids == tuple(pieces)
    assert b"".join(found.words[0].pieces) == b" zebra"
    assert found.came.voices == 1


def test_a_phones_capital_letter_and_blanks_do_not_make_another_word(tokenizer, logits):
    ids = tokenizer.ids(" cat")
    logits[ids[0]] = 9.0
    found = score(tokenizer, logits, ids[0], ["Cat", "cat", " cat "])
    assert [(word.ids, word.count) for word in found.words] == [(tuple(ids), 3)]
    assert found.words[0].texts == ("Cat", "cat", " cat ")
    bare = tokenizer.ids("Cat")
    logits[ids[0]], logits[bare[0]] = -9.0, 9.0
    assert score(tokenizer, logits, 0, ["Cat"]).words[0].ids == tuple(bare)


@pytest.mark.parametrize("text", ["<|endoftext|>", "👩‍👩‍👧‍👦", "שלום", "$x$ <b>", "\ufeff"])
def test_any_text_is_a_word_and_the_name_of_a_control_token_is_text(tokenizer, logits, text):
    found = score(tokenizer, logits, 0, [text])
    assert found.answers == 1
    assert not any(tokenizer.is_special(token_id) for token_id in found.words[0].ids)


def test_a_token_that_does_not_exist_is_refused(tokenizer, logits):
    with pytest.raises(EngineError, match="token id"):
        score(tokenizer, logits, VOCABULARY, ["cat"])
