"""Text to tokens and back: ids, bytes, spans, both readings, and what a vocabulary cannot hold."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tokenizer.tokenizer import Token
from tests.engine.tokenizers_of_families import ALL, METASPACE, MISSING, family

CASES = json.loads((Path(__file__).parents[2] / "data/cases/tokenizer.json").read_text("utf-8"))
TEXTS = [case["text"] for case in CASES["cases"]]
_BITS = st.sampled_from(
    [
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "the",
        " cat",
        "token",
        "2024",
        "é",
        "e\u0301",
        "你",
        "🤗",
        "👨‍👩‍👧‍👦",
        "🇫🇷",
        "مرحبا",
        "\ufeff",
        "\x00",
        "\x04",
        "<|im_end|>",
        "<s>",
        "<0x41>",
        "Ġ",
        "!?",
        "...",
    ]
)
ANY_TEXT = st.lists(_BITS | st.text(max_size=3), max_size=12).map("".join)
# Where the tokenizer's own leading space reads like the text's, decoding cannot tell them apart.
LOSSY_LEAD = ("gpt2_lead", "mistral", "phi3")
COMPOSED = ("qwen", "neox")


def _ids(tokens):
    return [token.id for token in tokens]


def _without(text, gaps):
    lost = {i for _, i in gaps}
    return "".join(char for i, char in enumerate(text) if i not in lost)


@pytest.mark.parametrize("name", ALL)
@given(text=ANY_TEXT)
@settings(max_examples=40, deadline=None)
def test_decoding_gives_the_text_back(name, text):
    tokenizer = family(name)
    text = _without(text, tokenizer.unrepresentable(text))
    if name in COMPOSED:
        text = unicodedata.normalize("NFC", text)
    if name in LOSSY_LEAD:
        text = text.lstrip(" ")
    assert tokenizer.decode(_ids(tokenizer.encode(text))) == text


@pytest.mark.parametrize("name", ALL)
@given(text=ANY_TEXT)
@settings(max_examples=40, deadline=None)
def test_bytes_and_spans_are_those_of_the_text(name, text):
    tokenizer = family(name)
    text = _without(text, tokenizer.unrepresentable(text))
    if name in COMPOSED:
        text = unicodedata.normalize("NFC", text)
    tokens = tokenizer.encode(text)
    assert b"".join(token.data for token in tokens) == text.encode()
    position = 0
    for token in tokens:
        # The span is the smallest run of characters that holds the token's bytes.
        before = len(text[: token.start].encode())
        inside = text[token.start : token.end].encode()
        assert before <= position
        assert inside[position - before :].startswith(token.data)
        position += len(token.data)
        if token.data:
            assert before + len(text[token.start].encode()) > position - len(token.data)
            assert before + len(text[token.start : token.end - 1].encode()) < position
        else:
            assert token.start == token.end


@pytest.mark.parametrize("name", ALL)
@given(text=st.lists(_BITS | st.text(st.characters(), max_size=3), max_size=8).map("".join))
@settings(max_examples=40, deadline=None)
def test_no_text_crashes_and_spans_stay_inside(name, text):
    tokenizer = family(name)
    for parse_special in (False, True):
        for token in tokenizer.encode(text, parse_special=parse_special):
            assert 0 <= token.start <= token.end <= len(text)
    for char, i in tokenizer.unrepresentable(text):
        assert text[i] == char


@pytest.mark.parametrize("name", ALL)
def test_parsing_equals_the_backend_as_it_came(name):
    tokenizer = family(name)
    for text in TEXTS:
        expected = tokenizer._source.encode(text, add_special_tokens=False).ids
        assert _ids(tokenizer.encode(text, parse_special=True)) == expected


@pytest.mark.parametrize("name", ALL)
@given(text=ANY_TEXT)
@settings(max_examples=40, deadline=None)
def test_typed_control_tokens_are_text_unless_parsed(name, text):
    tokenizer = family(name)
    control = "<s>" if name in METASPACE else "<|im_end|>"
    if name == "no_fallback":
        return  # its unknown token is a control token of its own
    plain = tokenizer.encode(text + control)
    assert not any(token.special for token in plain)
    parsed = tokenizer.encode(text + control, parse_special=True)
    assert parsed[-1] == Token(
        tokenizer._source.token_to_id(control),
        control,
        control.encode(),
        len(text),
        len(text) + len(control),
        True,
    )


def test_tokens_of_one_character_share_its_span():
    tokens = family("smollm").encode("a\u0e01b")
    assert [(t.data, t.start, t.end) for t in tokens] == [
        (b"a", 0, 1),
        (b"\xe0", 1, 2),
        (b"\xb8", 1, 2),
        (b"\x81", 1, 2),
        (b"b", 2, 3),
    ]


def test_a_trimming_post_processor_does_not_shrink_spans():
    assert [(t.start, t.end) for t in family("gpt2").encode("The cat")] == [(0, 3), (3, 7)]


@pytest.mark.parametrize("name", ["llama2", "mistral", "phi3"])
def test_the_tokenizers_own_space_is_no_part_of_the_text(name):
    tokenizer = family(name)
    tokens = tokenizer.encode("cat")
    assert b"".join(t.data for t in tokens) == b"cat"
    ids = _ids(tokens)
    assert tokenizer.decode(ids) == "cat"
    # After other text the same ids read with their space.
    assert tokenizer.decode(ids, continuing=True) == " cat"
    stream = tokenizer.stream(continuing=True)
    assert "".join(map(stream.push, ids)) + stream.flush() == " cat"


def test_a_composed_character_spans_what_it_was_composed_from():
    tokens = family("qwen").encode("xe\u0301y")
    assert [(t.data, t.start, t.end) for t in tokens] == [
        (b"x", 0, 1),
        ("é".encode(), 1, 3),
        (b"y", 3, 4),
    ]


def test_tags_that_the_template_writes_are_control_tokens():
    tokenizer = family("qwen")
    assert not any(t.special for t in tokenizer.encode("a</think>b"))
    assert [t.special for t in tokenizer.encode("</think>", parse_special=True)] == [True]
    assert [t.data for t in family("neox").encode("  ")] == [b"  "]


# The default model's own


@pytest.mark.real
def test_ids_are_llama_cpps(real_model):
    tokenizer, wrong = real_model.tokenizer, []
    for case in CASES["cases"]:
        text, ids = case["text"], case["ids"]
        parsed = case.get("ids_parsing_special", ids)
        if _ids(tokenizer.encode(text)) != ids:
            wrong.append(("encoded", text, _ids(tokenizer.encode(text)), ids))
        if _ids(tokenizer.encode(text, parse_special=True)) != parsed:
            wrong.append(("parsed", text, _ids(tokenizer.encode(text, parse_special=True)), parsed))
        if not tokenizer.decode(ids) == tokenizer.decode(parsed) == text:
            wrong.append(("decoded", text, tokenizer.decode(ids), tokenizer.decode(parsed)))
    assert len(CASES["cases"]) > 250
    assert wrong == []


@pytest.mark.real
def test_the_default_vocabulary_lacks_21_bytes(real_model):
    tokenizer = real_model.tokenizer
    assert tokenizer._coverage._missing == set(MISSING)
    assert tokenizer.vocabulary == 49_152
    assert len(tokenizer.special_ids) == 17
    assert tokenizer.bos_ids == ()


@pytest.mark.real
def test_ids_that_share_their_text_or_have_none(real_model):
    tokenizer = real_model.tokenizer
    texts = [tokenizer.decode([i]) for i in range(tokenizer.vocabulary)]
    assert texts.count("\ufffd") == 265  # so text alone never names a token


@pytest.mark.real
@pytest.mark.parametrize("text", ["a" * 20_000, "é" * 20_000, " " * 20_000, ("".join(TEXTS) * 4)])
def test_long_texts_are_quick(real_model, text):
    start = time.process_time()
    tokens = real_model.tokenizer.encode(text)
    assert time.process_time() - start < 3
    assert b"".join(t.data for t in tokens) == text.encode()


@pytest.mark.real
def test_10000_mixed_characters_take_less_than_300_ms(real_model):
    text = ("".join(TEXTS) * 4)[:10_000]
    real_model.tokenizer.encode(text)
    start = time.process_time()
    real_model.tokenizer.encode(text)
    real_model.tokenizer.unrepresentable(text)
    assert time.process_time() - start < 0.3
