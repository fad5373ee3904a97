"""Bans on the logits, against a look at every token of the vocabulary."""

from __future__ import annotations

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
