"""The guardrails page on a tiny random model, which leaks by chance."""

from __future__ import annotations

import pytest

from components.guardrails import view
from tests.app.conftest import kept


def html_of(at):
    return [element.proto.body for element in at.get("html")]


def choose(at, guard):
    at.button_group(key="guard").set_value(guard).run()
    assert not at.exception, [element.value for element in at.exception]


@pytest.mark.parametrize(
    ("guard", "answers"),
    [("Input filter", 1), ("Special tokens", 2), ("Logit ban", 3), ("Format", 2)],
)
def test_each_guard_asks_once_and_keeps_its_answers(open_app, guard, answers):
    at = open_app("guardrails", seed="3")
    choose(at, guard)
    at.button(key="ask").click().run()
    assert not at.exception, [element.value for element in at.exception]
    written = [body for body in html_of(at) if "border-left" in body]
    assert len(written) == answers
    # Another look and back: nothing is asked again.
    choose(at, "All guards")
    choose(at, guard)
    assert [body for body in html_of(at) if "border-left" in body] == written


def test_the_wordings_that_get_past_the_filter_are_counted(open_app):
    at = open_app("guardrails")
    choose(at, "Input filter")
    assert any("4 of 5 wordings get past" in element.value for element in at.markdown)
    table = at.dataframe[0].value
    assert list(table["plain filter"]) == ["stopped", *["gets through"] * 4]
    assert list(table["after normalisation"]) == [
        "stopped",
        "gets through",
        "stopped",
        "stopped",
        "gets through",
    ]


def test_the_comparison_runs_to_its_end_and_draws_the_bars(open_app):
    at = open_app("guardrails")
    at.text_input(key="guard_word").set_value("e").run()
    at.button(key="compare").click().run()
    assert not at.exception, [element.value for element in at.exception]
    tallies = kept(at, "guard_tallies")
    assert {one.runs for one in tallies} == {50}
    drawn = at.get("plotly_chart")[0].proto.spec.replace("\\u003cbr\\u003e", " ")
    assert view.leak_title(tallies) in drawn


def test_a_format_with_bad_keys_says_so(open_app):
    at = open_app("guardrails")
    choose(at, "Format")
    at.button_group(key="format").set_value("A JSON object").run()
    at.text_input(key="keys").set_value("a, a").run()
    assert "1 to 6 different keys" in at.warning[0].value


def test_both_other_views_speak_of_this_scenario(open_app):
    at = open_app("guardrails")
    at.session_state["view"] = "In depth"
    at.run()
    assert any("the token ban takes" in element.value for element in at.markdown)
    at.session_state["view"] = "Try this"
    at.run()
    assert any("2 get through" in element.value for element in at.caption)
