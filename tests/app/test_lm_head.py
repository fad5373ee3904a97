"""The LM head's page on the tiny model: every view, the look-up, and what each says."""

from __future__ import annotations

import pytest

from tests.app.test_frame import texts

VIEWS = ("Top 20", "All scores", "Softmax", "Two prompts", "No answer inside")


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_runs(open_app, view):
    at = open_app("lm_head", scores=view)
    assert not at.exception
    assert not at.warning


def test_any_token_is_found_with_its_rank_and_spelled_out(open_app):
    at = open_app("lm_head")
    at.text_input(key="lm_head_look_up").set_value("#7").run()
    assert "(id 7) is number" in texts(at)
    assert "the sum of 48 products" in texts(at)
    at.text_input(key="lm_head_look_up").set_value("#9999").run()
    assert "There is no token" in texts(at)
    at.text_input(key="lm_head_look_up").set_value("the cat sat").run()
    assert "The first is shown" in texts(at)


def test_markup_that_is_looked_up_is_shown_literally(open_app):
    at = open_app("lm_head")
    at.text_input(key="lm_head_look_up").set_value("<b>:smile:").run()
    assert not at.exception
    assert "\\<b\\>" in at.info[0].value
    assert ":smile:" not in at.info[0].value


def test_a_second_prompt_that_cannot_be_read_is_said(open_app):
    at = open_app("lm_head", scores="Two prompts")
    at.text_input(key="second_prompt").set_value("").run()
    assert "second prompt is empty" in texts(at)
    at.text_input(key="second_prompt").set_value("The cat sat on the mat. " * 90).run()
    assert "up to 256 are read" in texts(at)


def test_the_same_prompt_twice_has_no_divergence(open_app):
    at = open_app("lm_head", scores="Two prompts", prompt="The cat")
    at.text_input(key="second_prompt").set_value("The cat").run()
    assert texts(at).count("**0.00 bits**") == 2


@pytest.mark.parametrize(("view", "words"), [("In depth", "Shapes"), ("Try this", "Find a prompt")])
def test_depth_and_tasks(open_app, view, words):
    at = open_app("lm_head")
    at.session_state["view"] = view
    at.run()
    assert not at.exception
    assert words in texts(at)
