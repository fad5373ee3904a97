"""What a vocabulary cannot hold, how ids read back, and how it is built without side effects."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers

from engine.basics.errors import EngineError
from engine.tokenizer.gguf_pre_tokenizer import repair_pre_tokenizer
from engine.tokenizer.spelling import BYTE_SYMBOLS
from engine.tokenizer.tokenizer import Tokenizer
from tests.engine.tokenizers_of_families import ALL, BYTE_LEVEL, MISSING, family


def _ids(tokens):
    return [token.id for token in tokens]


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
