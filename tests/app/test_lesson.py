"""The ten guesses on a tiny model: nothing given away, then this model's own numbers."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from components.lesson import card
from components.lesson.steps import STEPS, Step
from components.link import keys
from components.shell.stages import stage
from engine.model.model import load_model
from pages.lesson import findings, progress
from tests.app.hands import html_of, prompt_of, question_of


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception, [element.value for element in at.exception]
    return at


def chips(at: AppTest) -> str:
    return next(str(e.proto) for e in at.get("bidi_component") if "chips" in str(e.proto))


def options(at: AppTest) -> list[str]:
    found = [entry for entry in at.button if str(entry.key).startswith("lesson_option_")]
    return [entry.label.replace("\\", "") for entry in found]


@pytest.fixture(scope="module")
def tiny(tiny_folder):
    return load_model(str(tiny_folder))


def statements(at: AppTest) -> list:
    return [group for group in at.get("button_group") if str(group.key).startswith("lesson_check")]


def test_every_guess_is_closed_until_it_is_made_and_then_tells_what_this_model_does(open_app, tiny):
    at = open_app(ten_guesses="1")
    for number, step in enumerate(STEPS, 1):
        asked(at, step)
        press(at, "lesson_option_0")
        shown(at, step, tiny)
        assert at.query_params[keys.GUESSED] == "-".join(["1"] * number)
        press(at, "lesson_next")
    assert [group.key for group in statements(at)] == [f"lesson_check_{i}" for i in range(10)]


def asked(at: AppTest, step: Step) -> None:
    """The page asks and gives nothing away: no words of its own, no fact, no picture."""
    assert question_of(at) == step.question
    assert options(at) == [option.text for option in step.options]
    assert stage(step.page).answer not in html_of(at)
    assert '"fact": ""' in chips(at).replace('\\"', '"').replace('":"', '": "')
    assert not at.get("plotly_chart")
    assert not at.markdown[1:], "nothing but the bar's words"


def shown(at: AppTest, step: Step, tiny) -> None:
    """The page is open, and the numbers are those of the engine on this model."""
    measured = findings.MEASURES[step.key](tiny)
    reveal = findings.worded(step.key, measured, None)
    assert question_of(at) == card.verdict(step, 0, reveal.right)
    told = " ".join(html_of(at).split())
    for sentence in (reveal.found, reveal.why, step.try_it):
        assert " ".join(sentence.split()) in told
    for key, value in step.values.items():
        if key in at.session_state:
            assert at.session_state[key] == value, key


def test_a_link_carries_the_guesses_and_opens_the_page_of_its_step(open_app):
    at = open_app(ten_guesses="6", guessed="2-x-99-0--3")
    step = STEPS[5]
    assert question_of(at) != step.question, "it was guessed, so the answer stands there"
    assert prompt_of(at) == step.values[keys.PROMPT]
    assert progress.guesses_of("2-x-99-0--3")[:6] == (1, None, None, progress.SHOWN, None, 2)
    press(at, "lesson_back")
    assert question_of(at) == STEPS[4].question


def test_a_guess_that_there_is_not_is_named_and_the_page_is_as_without(open_app):
    at = open_app(ten_guesses="11", guessed="1-2", believed="tf")
    assert any("Guess in the link was" in entry.value.replace("\\", "") for entry in at.toast)
    assert question_of(at) == stage("overview").question
    assert not {keys.TEN_GUESSES, keys.GUESSED, keys.BELIEVED} & set(at.query_params)
    assert progress.said_of("tx-f" + "t" * 20) == (True, None, None, False, *[True] * 6)


def test_what_was_changed_after_a_guess_survives_a_reload_and_an_open_step_takes_no_other(open_app):
    at = open_app(ten_guesses="6", guessed="-----3", prompt="My own words")
    assert prompt_of(at) == "My own words"
    at = open_app(ten_guesses="6", prompt="My own words")
    assert prompt_of(at) == STEPS[5].values[keys.PROMPT]


def test_the_lesson_is_entered_from_the_first_page_and_gives_the_prompt_back(open_app):
    at = open_app(prompt="My own words", temperature="1.5")
    press(at, "lesson_enter")
    assert question_of(at) == STEPS[0].question
    press(at, "lesson_show")
    press(at, "lesson_leave")
    assert prompt_of(at) == "My own words"
    assert at.session_state[keys.TEMPERATURE] == 1.5
    assert question_of(at) == stage(STEPS[0].page).question
    assert keys.TEN_GUESSES not in at.query_params


def test_another_page_is_open_while_a_question_waits_and_a_button_leads_back(open_app):
    at = open_app(ten_guesses="2")
    at.switch_page(stage("tokenizer").page).run()
    assert question_of(at) == stage("tokenizer").question
    press(at, "lesson_here")
    assert question_of(at) == STEPS[1].question


def test_the_check_says_on_what_somebody_changed_their_mind(open_app):
    at = open_app(ten_guesses="check", guessed="-".join(["1"] * 10))
    for number, step in enumerate(STEPS):
        statements(at)[number].set_value("True" if step.statement_is_true else "False").run()
    press(at, "lesson_next")
    held = sum(step.options[0].belief for step in STEPS)
    assert question_of(at) == (
        f"You changed your mind on {held} of 10. 10 of your 10 answers here are right."
    )
    press(at, "lesson_again")
    assert question_of(at) == STEPS[0].question
    assert keys.GUESSED not in at.query_params
