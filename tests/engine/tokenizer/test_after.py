"""A text that continues another: cut as in both joined, without a space of the tokenizer's own."""

import numpy as np
import pytest

from engine.guardrails.ban import spellings
from engine.lm_head.standing import guess_standing
from tests.engine.tokenizers_of_families import ALL, family

TEXTS = (" cat", "cat", " the dog", "!", "\n", " 100", "é", " 你好", "a", "  two", "\ttab", " ▁")
BEFORE = ("The cat sat on the", "Why?", "\n", "100", "")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("text", TEXTS)
def test_it_is_cut_as_in_the_joined_text(name, before, text):
    tokenizer = family(name)
    found = tokenizer.after(before, text)
    if not tokenizer.unrepresentable(text):
        assert b"".join(token.data for token in found).decode() == text
    joined = tokenizer.encode(before + text)
    seam = {token.start for token in joined} | {token.end for token in joined}
    if before and len(before) in seam and not any(t.start < len(before) < t.end for t in joined):
        own = [token for token in joined if token.start >= len(before)]
        assert [token.id for token in found] == [token.id for token in own]
        spans = [(token.start + len(before), token.end + len(before)) for token in found]
        assert spans == [(token.start, token.end) for token in own]


@pytest.mark.parametrize("name", ALL)
def test_a_word_begins_with_no_stray_space(name):
    tokenizer = family(name)
    for word in ("cat", "the", "dog"):
        assert not tokenizer.after("", word)[0].piece.startswith(("▁", "Ġ"))
        spaced = tokenizer.after("The sea.", f" {word}")
        assert b"".join(tokenizer.bytes_of(token.id) for token in spaced) == f" {word}".encode()


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_nothing(name):
    assert family(name).after("", "") == family(name).after("The cat", "") == []


def test_llama_2_knows_the_word_with_its_space():
    tokenizer = family("llama2")
    assert [token.piece for token in tokenizer.encode(" cat")] == ["▁", "▁cat"]
    assert [token.piece for token in tokenizer.after("", " cat")] == ["▁cat"]
    one = {spelling.text: spelling.can_be_banned for spelling in spellings(tokenizer, "cat")}
    assert one[" cat"]
    assert not one["cat"]


def test_a_guess_stands_where_its_first_own_token_does():
    tokenizer = family("llama2")
    word = tokenizer.after("", " cat")[0].id
    logits = np.zeros(tokenizer.vocabulary, np.float32)
    logits[word] = 5.0
    found = guess_standing(tokenizer, logits, "cat")
    assert (found.token_id, found.rank, found.pieces) == (word, 1, 1)
