"""The LM head's page on the tiny model: every view, the look-up, and what each says."""

from __future__ import annotations

import pytest

from components.shell.example_prompts import CHAT_QUESTION
from tests.app.conftest import kept
from tests.app.hands import html_of, prompt_of, set_prompt
from tests.app.test_frame import texts

VIEWS = ("Top 20", "All scores", "Softmax", "Two prompts", "No answer inside", "Ways to ask")


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


def test_the_second_prompt_never_is_the_first_until_somebody_types_it(open_app):
    at = open_app("lm_head", scores="Two prompts")
    for prompt in ("The capital of France is", "Paris is the capital of", "A cat"):
        set_prompt(at, prompt)
        assert not at.exception
        assert at.text_input(key="second_prompt").value not in ("", prompt)


def test_a_word_typed_without_its_space_is_offered_with_it(open_app):
    # In the tiny vocabulary " cat" is one token, and "cat" begins with another.
    at = open_app("lm_head", prompt="The")
    for word in ("cat", "the", "dog", "sat"):
        at.text_input(key="lm_head_look_up").set_value(word).run()
        if any(button.key == "with_space" for button in at.button):
            break
    else:
        pytest.fail("no word of the tiny vocabulary is likelier after a space")
    at.button(key="with_space").click().run()
    assert at.text_input(key="lm_head_look_up").value == f" {word}"
    assert f"·{word}" in texts(at).replace("\\", "")
    assert not any(button.key == "with_space" for button in at.button)


def test_ten_seeds_write_and_each_draws_its_first_token_as_everywhere(open_app):
    at = open_app(
        "lm_head", scores="No answer inside", prompt="The cat", temperature="1", top_p="1"
    )
    written = kept(at, "ten_texts")
    assert len(written) == 10
    assert all(len(steps) == 12 or steps[-1].last for steps in written)
    assert "seed 0 · u = 0." in html_of(at)
    assert "10 seeds" in texts(at)
    again = open_app(
        "lm_head", scores="No answer inside", prompt="The cat", temperature="1", top_p="1", seed="3"
    )
    one = [[step.id for step in steps] for steps in written]
    other = [[step.id for step in steps] for steps in kept(again, "ten_texts")]
    assert one[3:] == other[:7]


def test_at_temperature_0_ten_seeds_write_one_text(open_app):
    at = open_app("lm_head", scores="No answer inside", temperature="0")
    assert "10 seeds, one text" in texts(at)


def test_a_chat_question_can_be_asked_and_taken_back(open_app):
    at = open_app("lm_head", scores="No answer inside", prompt="The cat")
    at.button(key="ten_of_a_chat").click().run()
    assert not at.exception
    assert prompt_of(at) == CHAT_QUESTION.prompt
    assert at.session_state["chat"]
    at.button(key="undo_change").click().run()
    assert prompt_of(at) == "The cat"


def test_a_fact_is_asked_in_several_ways(open_app):
    at = open_app("lm_head", scores="Ways to ask")
    assert "What is the capital of Australia?" in html_of(at)
    at.selectbox(key="fact").select("France backwards").run()
    assert not at.exception
    assert "One fact from two sides: Paris" in texts(at)
    assert "Paris is the capital of" in html_of(at)


def test_the_sidebar_says_where_its_settings_change_nothing(open_app):
    for key in ("tokenizer", "embedding", "attention", "feed_forward", "lm_head"):
        assert "count from the sampling page on" in texts(open_app(key)), key
    assert "count from the sampling page on" not in texts(open_app("generation"))


@pytest.mark.parametrize(("view", "words"), [("In depth", "Shapes"), ("Try this", "Find a prompt")])
def test_depth_and_tasks(open_app, view, words):
    at = open_app("lm_head")
    at.session_state["view"] = view
    at.run()
    assert not at.exception
    assert words in texts(at)
