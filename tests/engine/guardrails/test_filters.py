"""Filters on text, before the tokenizer and on the way to the screen, on constructed texts."""

from __future__ import annotations

import pytest

from engine.guardrails import filters
from engine.guardrails.filters import OutputFilter, by_hold_back, seen

QUESTION = "Where is the Party? Which party?"


@pytest.mark.parametrize(
    ("disguise", "plain", "normalised"),
    [
        (lambda text, words: text, True, True),
        (filters.zero_width, False, True),
        (filters.look_alike, False, True),
        (filters.fullwidth, False, True),
        (filters.spaced, False, False),
    ],
)
def test_what_each_filter_notices(disguise, plain, normalised):
    text = disguise(QUESTION, ["party"])
    assert bool(filters.hits(text, ["party"], normalised=False)) is plain
    assert bool(filters.hits(text, ["party"], normalised=True)) is normalised
    # Every occurrence was changed, and nothing else.
    assert text.startswith("Where is the ")
    assert text.count("?") == 2


def test_disguises_keep_what_a_person_reads():
    assert filters.zero_width("a party", ["party"]) == "a p\u200barty"
    assert filters.look_alike("cap", ["cap"]) == "\u0441\u0430\u0440"
    for change in (filters.zero_width, filters.look_alike, filters.fullwidth, filters.spaced):
        assert filters.letters(change("the Museum.", ["museum"])) == "themuseum"


def test_normalising_takes_off_accents_ligatures_and_soft_hyphens():
    assert filters.normalise("Mus\u00e9um") == "museum"
    assert filters.normalise("o\ufb03ce") == "office"
    assert filters.normalise("mu\u00adse\u2060um") == "museum"
    assert filters.normalise("STRASSE") == filters.normalise("straße")


def test_an_empty_word_is_never_found():
    assert filters.hits("anything", ["", "  "], normalised=True) == ()
    assert filters.zero_width("text", [""]) == "text"


@pytest.mark.parametrize("word", ["museum", "a", "x.*("])
def test_the_output_filter_never_shows_more_than_the_definition_allows(word):
    text = f"It is at the {word} on Friday."
    chunks = [text[i : i + 3] for i in range(0, len(text), 3)]
    for hold in range(21):
        result = seen(chunks, word, hold)
        # By definition: with each chunk everything but the last `hold` characters is shown, until
        # the chunk that completes the word.
        done = text.index(word) + len(word)
        before = (-(-done // 3) - 1) * 3
        assert result.fired
        assert result.text == text[: max(0, before - hold)]
        assert not result.whole_word


def test_part_of_a_word_is_seen_when_too_little_is_held_back():
    results = by_hold_back(["It is the ", "mu", "se", "um", " now"], "museum")
    assert [one.word_part for one in results[:5]] == [4, 3, 2, 1, 0]
    assert results[0].text == "It is the muse"
    assert results[20].text == ""


def test_text_without_the_word_comes_whole():
    gate = OutputFilter("museum", 8)
    shown = gate.push("It is at ") + gate.push("home.") + gate.flush()
    assert shown == gate.shown == "It is at home."
    assert not gate.fired
