"""Byte-pair encoding step by step ends at the tokenizer's own tokens."""

from __future__ import annotations

import random
import time

import pytest
from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers

from engine.basics.errors import EngineError
from engine.tokenizer.bpe import MAX_SYMBOLS, BpeTable
from engine.tokenizer.tokenizer import Tokenizer
from tests.engine.tokenizers_of_families import ALL, CORPUS, family

_BITS = [
    "the",
    " the",
    "The cat",
    " token",
    "ization",
    " 2024",
    "1.",
    "\n",
    "\n\n",
    "  ",
    "\t",
    "é",
    "ß",
    "你好",
    " 世界",
    "🤗",
    "🇫🇷",
    "Привет",
    "!?",
    "...",
    "->",
    "==",
    "<|im_end|>",
    "\x04",
    "a",
]


def _lines(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(_BITS, k=draw.randint(1, 12))) for _ in range(count)]


def _check(tokenizer, text):
    words = tokenizer.merges(text)
    assert [p for word in words for p in word.pieces] == [t.piece for t in tokenizer.encode(text)]
    for word in words:
        if not (word.whole or word.capped):
            assert (word.steps[-1].pieces if word.steps else word.symbols) == word.pieces, text
        before = word.symbols
        for step in word.steps:
            assert before[step.index : step.index + 2] == (step.left, step.right)
            joined = (step.left + step.right,)
            assert step.pieces == before[: step.index] + joined + before[step.index + 2 :]
            before = step.pieces


@pytest.mark.parametrize("name", ALL)
def test_steps_end_at_the_tokenizers_pieces(name):
    for text in [*CORPUS, *_lines(50, seed=len(name))]:
        _check(family(name), text)


@pytest.mark.real
def test_steps_end_at_the_default_tokenizers_pieces(real_model):
    for text in [*CORPUS, *_lines(2000, seed=7)]:
        _check(real_model.tokenizer, text)


def test_steps_of_a_word_by_hand():
    table = BpeTable({("l", "o"): 0, ("lo", "w"): 1, ("e", "r"): 2}, words_first=False)
    steps = table.steps("lower")
    assert [(s.left, s.right, s.rank, s.index) for s in steps] == [
        ("l", "o", 0, 0),
        ("lo", "w", 1, 0),
        ("e", "r", 2, 1),
    ]
    assert [s.pieces for s in steps] == [
        ("lo", "w", "e", "r"),
        ("low", "e", "r"),
        ("low", "er"),
    ]


def test_of_equal_pairs_the_leftmost_goes_first():
    steps = BpeTable({("a", "a"): 0}, words_first=False).steps("aaa")
    assert [s.pieces for s in steps] == [("aa", "a")]


def test_spans_cover_the_text():
    text = "The cat, 🤗 café 12\n"
    words = family("smollm").merges(text)
    assert "".join(text[word.start : word.end] for word in words) == text
    assert [text[w.start : w.end] for w in words][:4] == ["The", " cat", ",", " 🤗"]


def test_a_long_pre_token_is_capped_and_says_so():
    tokenizer = family("smollm")
    fits, over = tokenizer.merges("a" * MAX_SYMBOLS)[0], tokenizer.merges("a" * 20_000)[0]
    assert not fits.capped
    assert over.capped
    assert over.steps == ()
    assert len(over.symbols) == 20_000
    assert list(over.pieces) == [t.piece for t in tokenizer.encode("a" * 20_000)]


def test_a_vocabulary_that_looks_up_words_first_finds_them_whole():
    (word,) = family("llama3").merges(" cat")
    assert word.whole
    assert word.pieces == ("Ġcat",)
    assert word.steps == ()


def test_an_added_token_is_whole_and_not_merged():
    text = "a  b"
    words = family("neox").merges(text)
    assert [(word.pieces, word.whole) for word in words] == [
        (("a",), False),
        (("  ",), True),
        (("b",), False),
    ]


def test_a_byte_token_is_one_symbol():
    words = family("gemma").merges("\x04")
    assert words[0].symbols == ("<0x04>",)


def test_no_text_has_no_steps():
    assert family("smollm").merges("") == []


def test_a_vocabulary_without_merges_says_so():
    backend = Backend(models.WordLevel({"a": 0, "?": 1}, unk_token="?"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(EngineError, match="byte-pair"):
        Tokenizer(backend).merges("a")


def test_only_the_chosen_pre_token_has_its_steps_written_out():
    tokenizer = family("smollm")
    text = "The cat sat on the mat"
    everything, one = tokenizer.merges(text), tokenizer.merges(text, only=1)
    assert one[1] == everything[1]
    assert one[1].steps
    assert all(word.steps == () for number, word in enumerate(one) if number != 1)
    assert [word.pieces for word in one] == [word.pieces for word in everything]
    assert all(word.steps == () for word in tokenizer.merges(text, only=-1))


@pytest.mark.real
def test_a_very_long_run_answers_within_three_seconds(real_model):
    real_model.tokenizer.merges("warm")
    start = time.perf_counter()
    (word,) = real_model.tokenizer.merges("a" * 20_000, only=0)
    assert time.perf_counter() - start < 3
    assert word.capped
    assert len(word.pieces) == 5000
