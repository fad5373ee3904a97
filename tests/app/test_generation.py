"""The generation page without a browser: runs, branches, settings that change, closer looks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from engine.generation.branches import Tree
from tests.app.hands import prompt_of, set_prompt

LINK = {"prompt": "The cat sat on the", "max_new_tokens": "6", "temperature": "1.5"}


def said(at):
    kinds = ("markdown", "caption", "warning", "error")
    return "\n".join(element.value for kind in kinds for element in at.get(kind))


def tree(at) -> Tree:
    (found,) = at.session_state["answers"].values()
    return found


@pytest.fixture
def page(open_app):
    return open_app("generation", **LINK)


def test_the_page_arrives_with_an_answer_up_to_its_budget_and_says_so(page):
    path = tree(page).path(0)
    assert path[-1].step.stop_reason in {"token budget", "end token"}
    assert len(path) <= 6
    assert f"{len(path)} token" in said(page)
    assert page.slider(key="answer_step").value == len(path)


def test_settings_that_change_later_change_nothing_that_was_written(page):
    before = tree(page).path(0)
    page.slider(key="temperature").set_value(0.0).run()
    assert tree(page).path(0) == before
    assert "Written with temperature 1.5" in said(page)
    assert "Your settings have changed since" in said(page)
    page.button(key="write_new").click().run()
    assert len(tree(page).branches) == 2
    assert "Written with temperature 0," in said(page)


def test_writing_on_goes_on_where_it_ended(open_app):
    page = open_app("generation", **LINK | {"seed": "3"})
    first = tree(page).ids(0)
    page.button(key="write").click().run()
    assert tree(page).ids(0)[: len(first)] == first
    assert len(tree(page).ids(0)) > len(first)
    assert "tokens in 2 runs" in said(page)


def test_another_answer_is_drawn_with_the_next_seed_and_says_so(page):
    page.button(key="write_new").click().run()
    page.button(key="write_new").click().run()
    found = tree(page)
    assert [found.path(branch)[0].setup.seed for branch in range(3)] == [0, 1, 2]
    assert "Seed 2 instead of 1" in said(page)


def test_at_temperature_0_another_answer_must_be_the_same_and_that_is_said(page):
    page.slider(key="temperature").set_value(0.0).run()
    page.button(key="write_new").click().run()
    found = tree(page)
    assert not page.toast
    page.slider(key="max_new_tokens").set_value(9).run()
    page.button(key="write_new").click().run()
    assert tree(page) == found
    assert "must be the same" in page.toast[0].value
    page.text_input(key="stop").set_value("☃").run()
    page.button(key="write_new").click().run()
    assert len(tree(page).branches) == len(found.branches) + 1


def test_the_same_question_is_written_once_for_all_who_ask_it(open_app, monkeypatch):
    first = open_app("generation", **LINK | {"seed": "77"})
    monkeypatch.setattr("engine.generation.loop.generate", None)  # nobody writes from here on
    second = open_app("generation", **LINK | {"seed": "77"})
    assert tree(second) == tree(first)


def test_writing_on_repeats_nothing_that_was_held_back(page):
    text = "".join(part.step.text for part in tree(page).path(0))
    page.text_input(key="stop").set_value(f"{text.strip()}☃").run()
    page.slider(key="max_new_tokens").set_value(2).run()
    page.button(key="write_new").click().run()
    for _ in range(2):
        page.button(key="write").click().run()
    assert tree(page).ids(1) == tree(page).ids(0)
    assert "".join(part.step.text for part in tree(page).path(1)) == text


def test_the_answers_come_back_with_their_prompt(page):
    page.button(key="write_new").click().run()
    ids = next(iter(page.session_state["answers"].values())).ids(1)
    set_prompt(page, "Why is the sea blue?")
    assert len(page.session_state["answers"]) == 2
    set_prompt(page, LINK["prompt"])
    assert next(iter(page.session_state["answers"].values())).ids(1) == ids
    assert len(page.session_state["answers"]) == 2
    page.button(key="forget").click().run()
    assert [len(found.branches) for found in page.session_state["answers"].values()] == [1, 1]


def test_the_first_answer_goes_on_where_it_was_broken_off_unless_it_was_stopped(page):
    whole = tree(page)
    cut = replace(whole, branches=(replace(whole.branches[0], own=whole.path(0)[:2]),))
    (base,) = page.session_state["answers"]
    page.session_state["answers"] = {base: cut}
    page.run()
    assert tree(page).ids(0) == whole.ids(0)
    page.session_state["answers"] = {base: cut}
    page.session_state["answers_stopped"] = {base: (cut.ids(0),)}
    page.run()
    assert len(tree(page).ids(0)) == 2
    assert "Stopped by you" in said(page)


def test_an_old_name_of_a_closer_look_opens_it(open_app):
    page = open_app("generation", **LINK | {"closer": "Take it away"})
    assert page.segmented_control(key="closer").value == "Download"
    assert not page.get("toast")


def test_an_answer_stopped_before_its_first_token_is_not_begun_again(page, monkeypatch):
    monkeypatch.setattr("pages.generation.answers.was_stopped", lambda live: True)
    set_prompt(page, "Something else")
    assert "before the first token" in said(page)
    assert not page.button(key="write").disabled


def test_a_stop_string_ends_the_text(page):
    text = "".join(part.step.text for part in tree(page).path(0))
    stop = next(
        character for character in text if character.isprintable() and character not in "|\\ "
    )
    page.text_input(key="stop").set_value(stop).run()
    page.button(key="write_new").click().run()
    last = tree(page).path(1)[-1].step
    assert last.stop_reason == "stop string"
    assert stop not in "".join(part.step.text for part in tree(page).path(1))
    assert "Ended by a stop string" in said(page)
    assert page.button(key="write").disabled


def test_each_closer_look_runs(page):
    for look in ("Surprise", "Detokenizer", "Streaming to a client", "Download", "Branches"):
        page.segmented_control(key="closer").set_value(look).run()
        assert not page.exception, look
    page.segmented_control(key="closer").set_value("Cost of each step").run()
    assert not page.exception
    assert "Both ways put the same token first" in said(page)


def test_the_tasks_are_checked_on_what_was_written(page):
    reasons = {part.step.stop_reason for part in tree(page).path(0)} - {None}
    page.session_state["view"] = "Try this"
    page.run()
    assert next(iter(reasons)) in said(page)


def test_a_budget_in_the_link_that_cannot_be_is_put_right(open_app):
    page = open_app("generation", max_new_tokens="100000")
    assert page.slider(key="max_new_tokens").value == 200


def test_the_link_carries_the_run(page):
    assert json.dumps(dict(page.query_params)).count("max_new_tokens") == 1


def test_an_example_sets_prompt_and_settings(page):
    page.segmented_control(key="closer").set_value("Detokenizer").run()
    page.button(key="example_2").click().run()
    assert not page.exception
    assert prompt_of(page).startswith("one, two, three")
    assert page.text_input(key="stop").value == "e, te"
    assert page.slider(key="temperature").value == 0
