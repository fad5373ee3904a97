"""The guardrails page on a tiny random model, which leaks by chance."""

from __future__ import annotations

import itertools
import re

import pytest

from components.guardrails import leaks
from components.guardrails.controls import CONTROLS
from components.guardrails.recorded import recorded
from engine.basics.errors import EngineError
from engine.guardrails.comparison import GUARDS
from tests.app.conftest import kept


def html_of(at):
    return [element.proto.body for element in at.get("html")]


def choose(at, guard):
    at.button_group(key="guard").set_value(guard).run()
    assert not at.exception, [element.value for element in at.exception]


def answers_of(at):
    return [body for body in html_of(at) if "min-height:4.6em" in body]


@pytest.mark.parametrize(
    ("guard", "answers"),
    [
        ("Input filter", 1),
        ("Special tokens", 2),
        ("Logit ban", 3),
        ("Format", 2),
        ("Output filter", 4),
    ],
)
def test_each_guard_opens_with_its_answers_and_keeps_them(open_app, guard, answers):
    at = open_app("guardrails", seed="3")
    choose(at, guard)
    written = answers_of(at)
    assert len(written) == answers
    # Another look and back: nothing is asked again.
    choose(at, "All guards")
    choose(at, guard)
    assert answers_of(at) == written
    at.button(key="next_seed").click().run()
    assert not at.exception
    assert at.session_state["seed"] == 4


def test_a_stopped_answer_is_not_begun_again_until_it_is_asked_for(open_app, monkeypatch):
    at = open_app("guardrails")
    with monkeypatch.context() as broken:
        broken.setattr("pages.guardrails.answers._write", refuse)
        choose(at, "Logit ban")
    (said,) = [element.value for element in at.error]
    assert said.startswith("This guard allows nothing")
    at.run()
    assert not answers_of(at)
    at.button(key="ask").click().run()
    assert len(answers_of(at)) == 3


def refuse(*_):
    raise EngineError("This guard allows nothing.")


def test_the_page_opens_with_recorded_counts_that_say_so(open_app):
    at = open_app("guardrails")
    tallies = recorded("Puppy")
    assert any(leaks.leak_title(tallies) in text for text in words_of(at))
    assert any("Recorded with SmolLM2-135M-Instruct" in text for text in words_of(at))
    rows = next(body for body in html_of(at) if "How often each guard leaked" in body)
    assert rows.count('role="listitem"') == len(GUARDS)
    at.button(key="scenario_Museum").click().run()
    assert any(leaks.leak_title(recorded("Museum")) in text for text in words_of(at))
    at.text_input(key="guard_word").set_value("Friday").run()
    assert any("yours is counted when you run it here" in text for text in words_of(at))


def words_of(at):
    kinds = ("markdown", "caption")
    return [re.sub(r"\\(\W)", r"\1", element.value) for kind in kinds for element in at.get(kind)]


def test_every_link_of_the_controls_opens_what_it_names(open_app):
    controls = itertools.chain.from_iterable(CONTROLS.values())
    links = {(control.page, tuple(control.link.items())) for control in controls}
    for page, link in sorted(links):
        at = open_app(page, **dict(link))
        for key, value in link:
            assert at.session_state[key] == value


def test_all_that_steers_stands_on_one_page(open_app):
    at = open_app("guardrails", guard="Controls")
    said = " ".join(words_of(at))
    assert all(group in said for group in CONTROLS)
    assert sum(body.count('scope="row"') for body in html_of(at)) == 6


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
    assert any(leaks.leak_title(tallies) in text for text in words_of(at))
    assert not any("Recorded with" in text for text in words_of(at))


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
