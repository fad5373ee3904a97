"""Streamed text: as early as possible, and joined exactly the whole."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.basics.errors import EngineError
from engine.tokenizer.detokenizer import IncrementalDecoder
from tests.engine.tokenizers_of_families import ALL, family


def _of_bytes() -> IncrementalDecoder:
    """Return a decoder whose ids are bytes."""
    return IncrementalDecoder(lambda token_id, lead: (bytes([token_id]), lead))


def _streamed(tokenizer, ids, **options) -> str:
    decoder = tokenizer.stream(**options)
    return "".join(map(decoder.push, ids)) + decoder.flush()


@pytest.mark.parametrize("name", ALL)
def test_chunks_joined_are_the_whole_for_10000_random_sequences(name):
    tokenizer, draw = family(name), random.Random(name)
    for _ in range(10_000 // len(ALL) + 1):
        ids = draw.choices(range(tokenizer.vocabulary), k=draw.randint(0, 12))
        options = {"skip_special": draw.random() < 0.5, "continuing": draw.random() < 0.5}
        assert _streamed(tokenizer, ids, **options) == tokenizer.decode(ids, **options)


@given(st.binary(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_bytes_give_what_decoding_them_at_once_gives(data):
    decoder = _of_bytes()
    joined = "".join(map(decoder.push, data)) + decoder.flush()
    assert joined == data.decode("utf-8", "replace")


@given(st.binary(max_size=24))
@settings(max_examples=200, deadline=None)
def test_nothing_is_held_back_but_a_character_that_may_still_be_completed(data):
    decoder = _of_bytes()
    for byte in data:
        decoder.push(byte)
        waiting = decoder.waiting
        assert len(waiting) <= 3
        if waiting:  # some continuation turns what waits into one valid character
            assert any(
                len((waiting + bytes([second]) + rest).decode("utf-8", "ignore")) == 1
                for second in range(0x80, 0xC0)
                for rest in (b"", b"\x80", b"\x80\x80")
            )


def test_a_character_appears_with_its_last_byte_and_not_before():
    decoder = _of_bytes()
    given_out = [decoder.push(byte) for byte in "é🤗".encode()]
    assert given_out == ["", "é", "", "", "", "🤗"]
    assert decoder.waiting == b""


def test_what_waits_can_be_shown_and_becomes_a_replacement_at_the_end():
    decoder = _of_bytes()
    assert [decoder.push(byte) for byte in b"\xf0\x9f"] == ["", ""]
    assert decoder.waiting == b"\xf0\x9f"
    assert decoder.flush() == "\ufffd"
    assert decoder.waiting == b""
    assert decoder.flush() == ""


def test_broken_bytes_are_given_up_as_soon_as_they_are_known_to_be_broken():
    decoder = _of_bytes()
    # E0 80 can start no character, though E0 alone can: both are given up at the second byte.
    assert [decoder.push(byte) for byte in b"\xe0\x80a"] == ["", "\ufffd\ufffd", "a"]


def test_a_control_token_inside_a_character_breaks_it():
    tokenizer = family("llama3")
    first = next(token.id for token in tokenizer.encode("\u0e01") if token.data[0] >= 0xE0)
    end = tokenizer.encode("<|im_end|>", parse_special=True)[0].id
    assert _streamed(tokenizer, [first, end]) == "\ufffd<|im_end|>"
    assert _streamed(tokenizer, [first, end], skip_special=True) == "\ufffd"


def test_an_id_out_of_range_is_named():
    tokenizer = family("smollm")
    with pytest.raises(EngineError, match=rf"no token {tokenizer.vocabulary}"):
        tokenizer.stream().push(tokenizer.vocabulary)


@pytest.mark.real
def test_the_default_model_streams_10000_random_sequences(real_model):
    tokenizer, draw = real_model.tokenizer, random.Random(1)
    for _ in range(10_000):
        ids = draw.choices(range(tokenizer.vocabulary), k=draw.randint(0, 12))
        assert _streamed(tokenizer, ids) == tokenizer.decode(ids)


def test_the_decoder_is_pythons_own():
    # What the promise rests on: were it ever replaced, the tests above must be read again.
    assert isinstance(_of_bytes()._utf8, codecs.getincrementaldecoder("utf-8"))
