"""The speculative decoding page without a browser: races, their texts, and what pays."""

from __future__ import annotations

import pytest

from components.speculative.recorded import COPYING, TOKENS
from tests.app.conftest import kept
from tests.app.hands import prompt_of
from tests.engine.runs import GREEDY, ids_of
from tests.near import assert_same_text
from tests.tiny import tiny_model

LINK = {"prompt": "The cat sat on the mat. The cat sat", "max_new_tokens": "8", "temperature": "0"}


def said(at):
    kinds = ("markdown", "caption", "warning", "error")
    return "\n".join(element.value for kind in kinds for element in at.get(kind))


def laps(at):
    return kept(at, "draft_race")


@pytest.fixture
def page(open_app):
    return open_app("speculative", **LINK)


@pytest.mark.parametrize("kind", ["Prompt lookup", "Early exit"])
def test_a_greedy_race_gives_the_same_text_twice(page, kind):
    page.selectbox(key="draft").set_value(kind).run()
    page.button(key="race").click().run()
    assert not page.exception
    fast = [token_id for lap in laps(page) if lap.round for token_id in lap.round.ids]
    plain = [step.id for lap in laps(page) for step in lap.steps]
    model = tiny_model("llama")
    assert_same_text(model, ids_of(model, LINK["prompt"]), fast, plain, GREEDY)
    assert ("both texts are the same" in said(page)) == (fast == plain)


def test_the_page_opens_with_the_recorded_race_and_a_race_is_that_of_its_settings(page):
    assert "the same text" in said(page)
    assert ":blue-badge[recorded]" in said(page)
    page.button(key="race").click().run()
    assert ":blue-badge[measured here]" in said(page)
    page.slider(key="guesses").set_value(2).run()
    assert ":blue-badge[recorded]" in said(page)


def test_breaking_the_race_changes_one_thing_says_so_and_can_be_undone(page):
    page.button(key="break_2").click().run()
    assert not page.exception
    assert prompt_of(page) == COPYING
    assert page.slider(key="temperature").value == 1
    assert page.slider(key="max_new_tokens").value == TOKENS
    assert "The race at temperature 1" in said(page)
    assert ":blue-badge[measured here]" in said(page)
    page.button(key="undo_change").click().run()
    assert prompt_of(page) == LINK["prompt"]
    assert page.slider(key="temperature").value == 0


def test_each_round_tells_its_numbers(page):
    page.slider(key="temperature").set_value(1.5).run()
    page.selectbox(key="draft").set_value("Early exit").run()
    page.button(key="race").click().run()
    rounds = [lap.round for lap in laps(page) if lap.round]
    rejected = next((part for part in rounds if part.residual), None)
    assert rejected is not None
    if len(rounds) > 1:
        page.slider(key="round").set_value(rejected.index + 1).run()
    assert not page.exception
    assert "drawn by the model in its place" in said(page)


def test_what_pays_is_measured_for_each_k(open_app):
    page = open_app("speculative", **LINK | {"draft_question": "When does it pay?"})
    assert len(page.get("plotly_chart")) == 2  # recorded
    page.button(key="compare").click().run()
    assert not page.exception
    measured = kept(page, "draft_pays")
    assert list(measured) == ["Prompt lookup"]
    assert [row.k for row in measured["Prompt lookup"]] == list(range(1, 9))
    assert "pay" in said(page)


def test_all_drafts_are_measured_together(open_app):
    page = open_app("speculative", **LINK | {"draft_question": "When does it pay?"})
    page.button(key="compare_all").click().run()
    assert not page.exception
    measured = kept(page, "draft_pays")
    assert list(measured) == ["Prompt lookup", "Early exit, 1 layers"]
    assert all(rows[0].k == 1 and len(rows) > 3 for rows in measured.values())
    assert len(page.dataframe[0].value) == sum(map(len, measured.values()))


def test_texts_are_counted_beside_their_law(open_app, monkeypatch):
    monkeypatch.setattr("pages.speculative.races.RUNS", 20)
    question = {"draft_question": "Same distribution?", "temperature": "1"}
    page = open_app("speculative", **LINK | question)
    page.button(key="count_texts").click().run()
    assert not page.exception
    found = kept(page, "draft_texts")
    assert (found.runs, len(found.expected)) == (20, 27)
    assert "20 runs, 27 texts that can come" in said(page)


def test_the_law_is_drawn_on_arrival_and_counted_here_on_demand(open_app, monkeypatch):
    monkeypatch.setattr("components.speculative.law_bars.ROUNDS", 200)
    page = open_app("speculative", **LINK | {"draft_question": "Same distribution?"})
    assert page.get("plotly_chart")
    assert "In 20,000 rounds" in said(page)
    page.button(key="count_law").click().run()
    assert not page.exception
    assert "In 200 rounds" in said(page)


def test_in_depth_and_tasks_follow_the_race(page):
    page.button(key="race").click().run()
    for view in ("In depth", "Try this"):
        page.session_state["view"] = view
        page.run()
        assert not page.exception
    assert "greedy, same text" in said(page)
