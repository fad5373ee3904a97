"""“Try this” and “Guess first” on every page: counted tasks that lead on, and one question each."""

from __future__ import annotations

import pytest

from components.shell.stages import STAGES
from tests.app.test_frame import each_stage, texts


def guess_of(at):
    """Return the radio of the page's question."""
    return next(radio for radio in at.radio if radio.key.startswith("guess_"))


@each_stage
def test_the_picture_waits_for_the_guess_and_the_tasks_are_counted(open_app, stage):
    at = open_app(stage.key, prompt="The cat sat on the mat")
    at.button(key="guess_first").click().run()
    assert not at.exception
    assert not at.get("plotly_chart"), "the picture waits"
    question = guess_of(at)
    assert question.value is None
    assert 3 <= len(question.options) <= 4
    question.set_value(0).run()
    assert "You guessed right." in texts(at) or "Not so. It is: " in texts(at).replace("*", "")
    at.button(key="close_guess").click().run()
    assert not at.exception
    assert not any(radio.key.startswith("guess_") for radio in at.radio)
    assert not any(button.key == "guess_first" for button in at.button)

    at.session_state["view"] = "Try this"
    at.run()
    assert not at.exception
    tasks = [button for button in at.button if str(button.key).startswith("task_")]
    assert len(tasks) == stage.tasks, "the stage says how many there are"
    total = sum(entry.tasks for entry in STAGES)
    assert f"of {total} tasks done" in texts(at)
    assert guess_of(at).value == 0, "the guess stays"
    for number in range(len(tasks)):
        at.session_state["view"] = "Try this"
        at.run()
        at.button(key=f"task_{number}").click().run()
        assert not at.exception
        assert at.session_state["view"] == "Visual"


def test_a_task_that_was_done_stays_counted_on_other_pages(open_app):
    at = open_app("tokenizer", prompt="cat cat 👩‍👩‍👧‍👦")
    at.session_state["view"] = "Try this"
    at.run()
    first = texts(at)
    assert "Done. " in first
    count = int(first.split(" of ")[0].rsplit("*", 1)[-1])
    assert count > 0
    at.session_state["prompt"] = "The"
    at.run()
    assert "Done before. " in texts(at)
    assert f"**{count} of " in texts(at)
    at.switch_page("pages/generation/page.py").run()
    at.session_state["view"] = "Try this"
    at.run()
    assert int(texts(at).split(" of ")[0].rsplit("*", 1)[-1]) >= count


@pytest.mark.parametrize("prompt", ["", "a", " \n"])
def test_a_prompt_about_which_nothing_can_be_asked_is_no_error(open_app, prompt):
    for key in ("tokenizer", "embedding", "attention", "sampling"):
        at = open_app(key, prompt=prompt)
        if any(button.key == "guess_first" for button in at.button):
            at.button(key="guess_first").click().run()
            assert not at.exception
