"""Bans on the logits, against a look at every token of the vocabulary."""

from __future__ import annotations

import codecs

import numpy as np
import pytest

from engine.basics.errors import EngineError
from engine.guardrails.ban import SequenceBan, TokenBan, spellings
from engine.guardrails.comparison import write
from engine.sampling.settings import SamplingSettings
from tests.tiny import tiny_tokenizer

SETTINGS = SamplingSettings(temperature=1.0)


def test_the_token_ban_removes_exactly_the_spellings_of_one_token():
    tokenizer = tiny_tokenizer()
    ways = {way.text: way for way in spellings(tokenizer, "the")}
    assert set(ways) == {"the", " the", "The", " The", "THE", " THE"}
    assert ways[" the"].can_be_banned
    assert not ways[" THE"].can_be_banned
    ban = TokenBan(tokenizer, "the")
    banned = np.flatnonzero(~ban(()))
    assert set(banned) == set(ban.banned)
    assert {tokenizer.decode([i]) for i in banned} <= set(ways)
    assert len(banned) == sum(way.can_be_banned for way in ways.values())


@pytest.mark.parametrize("word", ["the", "Mat", "ß", "x"])
def test_the_sequence_ban_equals_a_look_at_every_token(word):
    tokenizer = tiny_tokenizer()
    ban = SequenceBan(tokenizer, word)
    texts = ["", "The t", "on th", "THE T", "m", "ma", " mama", "tht", "Ma"]
    for text in texts:
        written = [token.id for token in tokenizer.encode(text)]
        before = b"".join(tokenizer.bytes_of(i) for i in written)
        needle, allowed = word.casefold(), ban(written)
        for i in range(tokenizer.vocabulary):
            data = b"" if tokenizer.is_special(i) else tokenizer.bytes_of(i)
            after = (before + data).decode(errors="ignore").casefold()
            completes = needle in after and needle not in before.decode().casefold()
            if needle not in before.decode().casefold():
                assert allowed[i] == (not completes), (text, tokenizer.bytes_of(i))


def naive_mask(tokenizer, word, written):
    """Return which tokens may come, from the whole joined text with each of them."""
    data = [
        b"" if tokenizer.is_special(i) else tokenizer.bytes_of(i)
        for i in range(tokenizer.vocabulary)
    ]
    before = b"".join(data[i] for i in written)
    decoder = codecs.getincrementaldecoder("utf-8")
    return [
        word.casefold() not in decoder("replace").decode(before + more).casefold() for more in data
    ]


CUT_CAPITALS = ["Łódź", "Москва", "Čapek", "İstanbul", "Österreich", "Ἀθῆναι", "Đà Nẵng", "ﬁn", "ß"]


@pytest.mark.parametrize("word", CUT_CAPITALS)
@pytest.mark.parametrize("lead", ["", " "])
def test_a_word_whose_letters_are_cut_into_bytes_is_held_in_every_case_form(word, lead):
    tokenizer = tiny_tokenizer()
    ban = SequenceBan(tokenizer, word)
    forms = {word, word.lower(), word.upper(), word.title(), word.swapcase(), word.casefold()}
    for form in sorted(forms):
        ids = tokenizer.ids(lead + form)
        allowed = [bool(ban(ids[:count])[ids[count]]) for count in range(len(ids))]
        assert not all(allowed), form
        # Nothing is removed before the word could be whole.
        until = allowed.index(False)
        assert not until or word.casefold() not in tokenizer.decode(ids[:until]).casefold()


@pytest.mark.parametrize("word", ["Łódź", "İs", "ß", "é", "s", "日本"])
def test_the_sequence_ban_equals_a_look_at_every_token_inside_of_characters_too(word):
    tokenizer = tiny_tokenizer()
    ban = SequenceBan(tokenizer, word)
    texts = [word, word.upper(), "ŁÓD", "łó", "maß", "İ", "日", "日本", "e\u0301", "x é"]
    for text in texts:
        ids = tokenizer.ids(text)
        for count in range(len(ids) + 1):
            expected = naive_mask(tokenizer, word, ids[:count])
            if word.casefold() in tokenizer.decode(ids[:count]).casefold():
                continue  # it is there already
            assert ban(ids[:count]).tolist() == expected, (text, count)


def test_a_control_token_or_a_broken_byte_in_between_does_not_help():
    tokenizer = tiny_tokenizer()
    ban = SequenceBan(tokenizer, "Čapek")
    capital = tokenizer.ids("Č")
    assert len(capital) == 2
    rest = tokenizer.ids("APEK")
    end = tokenizer.encode("<|im_end|>", parse_special=True)[0].id
    written = [*capital, end, *rest]
    assert not ban(written[:-1])[rest[-1]]
    # A first byte without its second one is not the letter.
    assert ban([capital[0], *rest[:-1]])[rest[-1]]


def test_the_tokens_that_hold_the_word_by_themselves_are_named():
    tokenizer = tiny_tokenizer()
    ban = SequenceBan(tokenizer, "he")
    holding = {
        i
        for i in range(tokenizer.vocabulary)
        if not tokenizer.is_special(i) and b"he" in tokenizer.bytes_of(i).lower()
    }
    assert set(ban.whole) == holding != set()
    assert set(np.flatnonzero(~ban(()))) == holding


def test_what_a_sequence_ban_writes_never_holds_the_word(tiny_model):
    model = tiny_model("llama")
    ban = SequenceBan(model.tokenizer, "e")
    for seed in range(5):
        steps = write(model, [70, 71], SETTINGS, seed=seed, max_new_tokens=60, guard=ban)
        assert "e" not in "".join(step.text for step in steps).casefold()


def test_without_a_word_there_is_nothing_to_forbid():
    for ban in (TokenBan, SequenceBan):
        with pytest.raises(EngineError, match="Type one"):
            ban(tiny_tokenizer(), " ")
