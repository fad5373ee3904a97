"""The overview on a tiny model: one token at a time, many at once, and what ends the text."""

from __future__ import annotations

import pytest

from pages.frame.live import WRITTEN
from pages.overview import writing
from tests.app.conftest import kept
from tests.app.hands import set_prompt


def written(at) -> tuple[int, ...]:
    return kept(at, WRITTEN) or ()


def button(at, key: str):
    return next(entry for entry in at.button if entry.key == key)


def test_next_token_appends_what_the_picture_drew(open_app):
    at = open_app(prompt="Hi there", temperature="0")
    button(at, "next_token").click().run()
    button(at, "next_token").click().run()
    assert len(written(at)) == 2
    assert not at.exception


def test_one_at_a_time_gives_the_text_that_many_at_once_give(open_app):
    singly, at_once = (open_app(prompt="Hi there", seed="3") for _ in range(2))
    for _ in range(5):
        if not button(singly, "next_token").disabled:
            button(singly, "next_token").click().run()
    button(at_once, "write_more").click().run()
    assert written(singly)
    assert written(at_once)[: len(written(singly))] == written(singly)


def test_a_guess_is_told_where_it_stood_beside_the_token_that_came(open_app):
    at = open_app(prompt="Hi there", temperature="0")
    at.text_input(writing.GUESS).set_value("[x](http://e.org) the")
    button(at, "next_token").click().run()
    drawn = kept(at, writing.DRAWN)
    assert drawn.typed == "[x](http://e.org) the"
    assert drawn.token.rank == 1
    assert drawn.guess.pieces > 1
    said = next(entry.value for entry in at.markdown if " came" in entry.value)
    assert "\\[x\\]" in said
    at.text_input(writing.GUESS).set_value(" ")  # a browser empties the field by itself
    button(at, "next_token").click().run()
    assert kept(at, writing.DRAWN).guess is None
    button(at, "write_more").click().run()
    assert kept(at, writing.DRAWN) is None


def test_the_strip_speaks_of_the_text_so_far(open_app):
    at = open_app(prompt="Hi there", temperature="0")

    def chip():
        return next(str(e.proto) for e in at.get("bidi_component") if "chips" in str(e.proto))

    before = chip()
    button(at, "next_token").click().run()
    assert chip() != before


def test_every_view_of_the_page_has_something_to_show(open_app):
    at = open_app(prompt="Hi there", view="In depth")
    assert any("Prefill and decode" in entry.value for entry in at.markdown)
    at = open_app(prompt="Hi there", view="Try this")
    assert sum("Not yet." in entry.value for entry in at.caption) >= 3


def test_another_prompt_begins_anew(open_app):
    at = open_app(prompt="Hi there", temperature="0")
    button(at, "next_token").click().run()
    set_prompt(at, "Something else")
    button(at, "next_token").click().run()
    assert len(written(at)) == 1


def test_start_over_forgets_the_text(open_app):
    at = open_app(prompt="Hi there", temperature="0")
    button(at, "next_token").click().run()
    button(at, "start_over").click().run()
    assert written(at) == ()


@pytest.mark.parametrize("prompt", ["", " "])
def test_an_empty_prompt_shows_no_picture_but_says_what_to_do(open_app, prompt):
    at = open_app(prompt=prompt, chat="true")
    assert any("empty" in entry.value for entry in at.warning)
