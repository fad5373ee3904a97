"""The glossary: each word once, in a sentence, with a page of its own; the signs of the screen."""

from components.kit.text import visible
from components.shell.glossary import SIGNS, WORDS
from components.shell.stages import stage


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
