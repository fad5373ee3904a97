"""The overview on a tiny model: one token at a time, many at once, and what ends the text."""

from __future__ import annotations

import pytest

from pages.overview import writing
from tests.app.conftest import kept
from tests.app.hands import set_prompt


def written(at) -> tuple[int, ...]:
    return kept(at, writing.KEY) or ()


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
