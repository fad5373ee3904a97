"""Text to tokens and back: ids, bytes, spans, both readings, and what a vocabulary cannot hold."""

from __future__ import annotations

import json
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers

from engine.errors import EngineError
from engine.pieces import BYTE_SYMBOLS, repair_pre_tokenizer
from engine.tokenizer import Token, Tokenizer
from tests.engine.tokenizers_of_families import ALL, BYTE_LEVEL, METASPACE, MISSING, family

CASES = json.loads((Path(__file__).parents[1] / "data/cases/tokenizer.json").read_text("utf-8"))
TEXTS = [case["text"] for case in CASES["cases"]]
_BITS = st.sampled_from(
    [
        *(
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
        ),
        *(
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
        ),
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


# What a vocabulary cannot hold


def test_missing_bytes_are_reported_and_dropped():
    tokenizer = family("smollm")
    text = "a\x04b\U00100000" + "\U00040000" + "."
    # U+40000 is F1 80 80 80, and F1 has no symbol; U+100000 begins with F4, which has one.
    assert tokenizer.unrepresentable(text) == [("\x04", 1), ("\U00040000", 4)]
    tokens = tokenizer.encode("a\x04b")
    assert [(t.data, t.start, t.end) for t in tokens] == [(b"a", 0, 1), (b"b", 2, 3)]
    assert tokenizer.encode("\x04\x1d") == []


@pytest.mark.parametrize("byte", [b for b in MISSING if b < 128])
def test_each_missing_control_character_is_reported(byte):
    assert family("smollm").unrepresentable(f"x{chr(byte)}") == [(chr(byte), 1)]


def test_neighbours_of_a_dropped_byte_do_not_merge_across_it():
    tokenizer = family("smollm")
    assert [t.piece for t in tokenizer.encode("..")] == [".."]
    assert [(t.piece, t.start, t.end) for t in tokenizer.encode(".\x04..\x04")] == [
        (".", 0, 1),
        ("..", 2, 4),
    ]


@pytest.mark.parametrize("name", ALL)
def test_lone_surrogates_are_reported_dropped_and_never_crash(name):
    tokenizer = family(name)
    text = "a\ud800 cat\udfff\ud83e"
    assert [g for g in tokenizer.unrepresentable(text) if "\ud800" <= g[0] <= "\udfff"] == [
        ("\ud800", 1),
        ("\udfff", 6),
        ("\ud83e", 7),
    ]
    with_them, without = tokenizer.encode(text), tokenizer.encode("a cat")
    assert _ids(with_them) == _ids(without)
    # Spans count the dropped characters.
    assert [t.end for t in with_them] == [t.end + (t.end > 1) for t in without]


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_everything_else_is_representable(name):
    text = "\x00\ufeffمرحبا 👨‍👩‍👧‍👦 \u202eabc\u202c ▁ \x7f"
    assert family(name).unrepresentable(text) == []
    assert family(name).decode(_ids(family(name).encode(text))) == text


def test_without_byte_fallback_unknown_characters_are_reported():
    assert family("no_fallback").unrepresentable("cat☃ ▁") == [("☃", 3), ("▁", 5)]
    assert family("gemma").unrepresentable("cat☃") == []


# Ids


def test_ids_out_of_range_are_named():
    tokenizer = family("smollm")
    last = tokenizer.vocabulary - 1
    for bad in (-1, last + 1):
        for call in (tokenizer.bytes_of, tokenizer.piece_of, lambda i: tokenizer.decode([0, i])):
            with pytest.raises(EngineError, match=f"no token {bad}: .* 0 to {last}"):
                call(bad)


def test_padding_rows_of_the_lm_head_decode_to_nothing():
    tokenizer = family("smollm")
    sized = tokenizer.sized(tokenizer.vocabulary + 10)
    assert sized.vocabulary == tokenizer.vocabulary + 10
    assert sized.decode([tokenizer.vocabulary + 9]) == ""
    with pytest.raises(EngineError):
        tokenizer.decode([tokenizer.vocabulary + 9])
    assert tokenizer.sized(3).vocabulary == tokenizer.vocabulary


def test_control_tokens_decode_to_their_names_or_to_nothing():
    tokenizer = family("smollm")
    ids = _ids(tokenizer.encode("a<|im_end|>b", parse_special=True))
    assert tokenizer.decode(ids) == "a<|im_end|>b"
    assert tokenizer.decode(ids, skip_special=True) == "ab"
    assert [tokenizer.is_special(i) for i in ids] == [False, True, False]
    assert tokenizer.end_ids == {0, 2}


def test_the_tokens_before_a_text():
    assert family("smollm").encode("cat", add_bos=True) == family("smollm").encode("cat")
    for name, bos in (("llama3", "<|endoftext|>"), ("gemma", "<s>"), ("llama2", "<s>")):
        first, *rest = family(name).encode("cat", add_bos=True)
        assert (first.piece, first.data, first.start, first.end) == (bos, b"", 0, 0)
        assert first.special
        assert rest == family(name).encode("cat")


@pytest.mark.parametrize("kind", ["smollm", "starcoder"])
def test_the_pre_tokenizer_that_a_gguf_file_names(kind):
    backend = Backend(models.BPE())
    repair_pre_tokenizer(backend, kind)
    cut = [piece for piece, _ in backend.pre_tokenizer.pre_tokenize_str("\n\n1. First 24")]
    assert cut == ["ĊĊ", "1", ".", "ĠFirst", "Ġ", "2", "4"]


def test_other_pre_tokenizers_of_gguf_files():
    backend = Backend(models.BPE())
    repair_pre_tokenizer(backend, "gpt-2")
    assert [p for p, _ in backend.pre_tokenizer.pre_tokenize_str(" 24")] == ["Ġ24"]
    backend.pre_tokenizer = None
    repair_pre_tokenizer(backend, "qwen2")
    assert backend.pre_tokenizer is None


def test_byte_symbols_are_gpt2s():
    assert set(BYTE_SYMBOLS) == set(pre_tokenizers.ByteLevel.alphabet())
    assert BYTE_SYMBOLS[ord("a")] == "a"
    assert BYTE_SYMBOLS[ord(" ")] == "Ġ"
    assert BYTE_SYMBOLS[ord("\n")] == "Ċ"


def test_the_caller_keeps_its_backend_as_it_was():
    backend = family("llama2")._source
    before = backend.to_str()
    Tokenizer(backend).encode("<s>a\x04", add_bos=True)
    assert backend.to_str() == before


def test_threads_do_not_change_each_others_reading():
    tokenizer = family("smollm")
    expected = {p: tokenizer.encode("a<|im_end|>b", parse_special=p) for p in (False, True)}

    def read(i):
        parse_special = bool(i % 2)
        return (
            tokenizer.encode("a<|im_end|>b", parse_special=parse_special) == expected[parse_special]
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(400)))


# The default model's own


@pytest.mark.real
@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: repr(case["text"])[:30])
def test_ids_are_llama_cpps(real_model, case):
    tokenizer, text = real_model.tokenizer, case["text"]
    assert _ids(tokenizer.encode(text)) == case["ids"]
    parsed = case.get("ids_parsing_special", case["ids"])
    assert _ids(tokenizer.encode(text, parse_special=True)) == parsed
    assert tokenizer.decode(case["ids"]) == text
    assert tokenizer.decode(parsed) == text


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
    assert texts.count("\ufffd") == 265  # craft.md's count: text alone never names a token


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
