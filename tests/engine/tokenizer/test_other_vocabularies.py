"""Other vocabularies give the ids of their makers' own libraries, and spans that fit the text."""

from __future__ import annotations

import inspect
import json
from importlib.resources import files
from itertools import pairwise

import pytest

from engine.basics.errors import EngineError
from engine.tokenizer import other_vocabularies
from engine.tokenizer.spans import Token
from tests.sources import ROOT

CASES = json.loads((ROOT / "tests/data/cases/tokenizer.json").read_text(encoding="utf-8"))["cases"]
TEXTS = [case["text"] for case in CASES] + [
    "",
    " ",
    "  x",
    "\x00",
    "a\x00b",
    "▁a ▁",
    "\ufeffhi",
    "\n\n1. First",
    "<s>",
    "</s>",
    "<0x41>",
    "<|endoftext|>",
    "[INST] Hi [/INST]",
    "👩‍👩‍👧‍👦",
    "2024-01-01",
    "a" * 3000,
]
KEYS = [facts.key for facts in other_vocabularies.OTHERS]

pytestmark = pytest.mark.filterwarnings("ignore:open_binary is deprecated")


@pytest.fixture(scope="module")
def loaded():
    return {key: other_vocabularies.load(key) for key in KEYS}


@pytest.fixture(scope="module")
def own_libraries():
    """Return each maker's (or GitHub's) own encoder, which shares no code with ours."""
    import bpe_openai
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    data = files("mistral_common") / "data"
    tekken = Tekkenizer.from_file(str(data / "tekken_240911.json"))
    first = SentencePieceTokenizer(str(data / "tokenizer.model.v1"))
    return {
        "mistral-v1": (lambda text: first.encode(text, bos=False, eos=False), first.n_words),
        "cl100k": _openai(bpe_openai, "cl100k_base"),
        "tekken": (lambda text: tekken.encode(text, bos=False, eos=False), tekken.n_words),
        "o200k": _openai(bpe_openai, "o200k_base"),
    }


def _openai(library, name):
    encoding = library.get_encoding(name)
    return encoding.encode_ordinary, encoding.n_vocab


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_ids_are_those_of_the_makers_library(loaded, own_libraries, key):
    encode, size = own_libraries[key]
    assert loaded[key].facts.size == size
    for text in TEXTS:
        assert [token.id for token in loaded[key].encode(text)] == list(encode(text)), text[:60]


@pytest.mark.parametrize("key", KEYS)
def test_bytes_and_spans_are_the_texts_own(loaded, key):
    for text in TEXTS:
        tokens = loaded[key].encode(text)
        own = text.replace("▁", " ") if key == "mistral-v1" else text
        assert b"".join(token.data for token in tokens) == own.encode()
        covered = {i for token in tokens for i in range(token.start, token.end)}
        assert covered == set(range(len(text)))


def test_the_ranks_are_the_files_that_openais_library_asks_for():
    import tiktoken_ext.openai_public as published

    for name in ("cl100k", "o200k"):
        facts = next(entry for entry in other_vocabularies.OTHERS if entry.key == name)
        source = inspect.getsource(getattr(published, f"{name}_base"))
        assert facts.sha256 in source
        ranks = other_vocabularies._published_ranks(facts)
        assert len(ranks) == {"cl100k": 100_256, "o200k": 199_998}[name]


def test_a_damaged_file_is_refused(monkeypatch):
    import gzip

    monkeypatch.setattr(other_vocabularies, "_file_of", lambda facts: gzip.compress(b"AA== 0\n"))
    with pytest.raises(EngineError, match="not what OpenAI published"):
        other_vocabularies.load("o200k")


def test_a_missing_package_says_what_to_do(monkeypatch):
    monkeypatch.setattr(other_vocabularies, "find_spec", lambda package: None)
    with pytest.raises(EngineError, match="make run"):
        other_vocabularies.load("mistral-v1")


def test_an_unknown_vocabulary_is_named():
    with pytest.raises(EngineError, match="“gpt-9”"):
        other_vocabularies.load("gpt-9")


def test_there_are_four_between_32k_and_256k_of_both_families():
    assert len(other_vocabularies.OTHERS) >= 4
    assert all(32_000 <= facts.size <= 256_000 for facts in other_vocabularies.OTHERS)
    assert {facts.family for facts in other_vocabularies.OTHERS} == {
        "byte-level BPE",
        "SentencePiece BPE",
    }


def test_years_are_cut_differently(loaded):
    counts = {key: len(loaded[key].encode("2024")) for key in KEYS}
    assert counts == {"mistral-v1": 5, "cl100k": 2, "tekken": 4, "o200k": 2}


def test_a_lone_surrogate_is_dropped_and_spans_fit_the_text(loaded):
    tokens = loaded["o200k"].encode("a\ud800b")
    assert b"".join(token.data for token in tokens) == b"ab"
    assert tokens[-1].end == 3


def _tokens(*edges):
    return [Token(0, "", b"", start, end, False) for start, end in pairwise(edges)]


def test_disputed_places_are_those_where_only_some_cut():
    cuts = [_tokens(0, 2, 5), _tokens(0, 2, 3, 5), _tokens(0, 2, 5)]
    assert other_vocabularies.disputed(cuts) == {3}
    assert other_vocabularies.disputed(cuts[:1]) == frozenset()
    assert other_vocabularies.disputed([]) == frozenset()


def test_a_character_in_pieces_disputes_nothing():
    whole, parts = _tokens(0, 1, 2), [*_tokens(0, 1), *_tokens(0, 1), *_tokens(1, 2)]
    assert other_vocabularies.disputed([whole, parts]) == frozenset()


def test_a_cut_inside_a_character_is_no_place_between_two():
    space_then_bytes = [*_tokens(0, 2), Token(0, "", b"", 1, 2, False)]
    assert other_vocabularies.disputed([space_then_bytes, _tokens(0, 1, 2)]) == {1}
