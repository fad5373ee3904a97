"""The glossary: each word once, in a sentence, with a page of its own; the signs of the screen."""

import html
import re

from components.kit.text import visible
from components.shell.glossary import SIGNS, WORDS, marked
from components.shell.stages import STAGES, stage

UNDERLINED = re.compile(r'<span class="glossary-word"[^>]*>([^<]*)</span>')


def test_each_word_stands_once_in_one_sentence_and_leads_to_a_page():
    names = [word.name for word in WORDS]
    assert len(set(names)) == len(names) >= 30
    for word in WORDS:
        assert stage(word.stage).page
        assert word.meaning.endswith(".")
        assert len(word.meaning) <= 110, word.name


def test_the_signs_are_those_that_text_is_made_visible_with():
    signs = {sign for sign, _ in SIGNS}
    for text, sign in ((" ", "·"), ("\n", "⏎"), ("\t", "⇥")):
        assert visible(text) == sign
        assert sign in signs
    assert visible(b"\xf0\x9f") == "⟨F0 9F⟩"
    assert "⟨F0 9F⟩" in signs


def test_a_word_is_underlined_where_it_comes_first_as_a_whole_and_in_the_plural():
    text = "Tokens & tokens: a <b>token</b>, tokenizer, a KV cache, keys."
    found, seen = marked(text)
    assert UNDERLINED.findall(found) == ["Tokens", "KV cache", "keys"]
    assert seen == {"Token", "KV cache", "Key"}
    assert html.unescape(re.sub(r"</?span[^>]*>", "", found)) == text
    assert "<b>" not in found
    again, _ = marked(text, but=seen)
    assert not UNDERLINED.findall(again)
    assert marked("top-p and u")[1] == {"Nucleus (top-p)"}


def test_titles_and_answers_stay_what_they_are_and_most_hold_a_word():
    with_words = 0
    for entry in STAGES:
        found, seen = marked(entry.answer)
        assert html.unescape(re.sub(r"</?span[^>]*>", "", found)) == entry.answer
        with_words += bool(seen)
    assert with_words >= 8
