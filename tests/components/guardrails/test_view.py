"""The words, verdicts and rows of the guardrails page, from plain values."""

from __future__ import annotations

import dataclasses
import re

import pytest

from components.guardrails import leaks, view
from components.guardrails.recorded import BUDGET, SEEDS, recorded
from components.kit.text import readable
from engine.guardrails.comparison import GUARDS, Tally
from engine.guardrails.filters import Seen, tells
from engine.guardrails.scenario import SCENARIOS
from engine.guardrails.scenario import leaks as is_read


def tally(guard, leaks, blocked=0, told=None, example=""):
    return Tally(
        guard=guard,
        runs=50,
        leaks=leaks,
        blocked=blocked,
        milliseconds=0.1,
        told=leaks if told is None else told,
        example=example,
    )


def test_the_title_names_what_the_rows_say():
    some = [tally("no guard", 41), tally("token ban", 9), tally("system turn", 30)]
    assert leaks.leak_title(some) == (
        "Without a guard the word leaks in 41 of 50 runs, least with token ban: 9"
    )
    tight = leaks.leak_title([*some, tally("sequence ban", 0), tally("output filter", 0)])
    assert tight.endswith("41 of 50 runs; never with: sequence ban, output filter")
    told = leaks.leak_title([*some, tally("sequence ban", 0, told=18), tally("output filter", 0)])
    assert told.endswith(
        "output filter. Yet with the sequence ban 18 answers tell it in other words"
    )


def test_a_row_is_as_wide_as_all_runs_and_has_its_answer_beside_it():
    scenario = SCENARIOS["Puppy"]
    rows = leaks.leak_rows(
        [
            tally("no guard", 40, example="A <b>puppy</b>."),
            tally("sequence ban", 0, told=20, example="a dog"),
            tally("output filter", 0, blocked=49, told=2),
        ],
        scenario,
    )
    assert rows.count('role="listitem"') == 3
    parts = [int(part) for part in re.findall(r"flex:(\d+) 0 0", rows)]
    assert parts == [40, 10, 20, 30, 2, 48], "said, told, stopped, and the rest of 50"
    assert "40 of 50 say it<" in rows
    assert "0 of 50 say it, 20 more tell it" in rows
    assert "A &lt;b&gt;puppy&lt;/b&gt;." in rows
    assert "nothing was shown" in rows


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_recording_is_whole_and_its_examples_show_what_is_counted(name):
    tallies, scenario = recorded(name), SCENARIOS[name]
    assert tuple(one.guard for one in tallies) == GUARDS
    assert {one.runs for one in tallies} == {len(scenario.wordings()) * len(SEEDS)}
    assert BUDGET < 40
    for one in tallies:
        assert 0 <= one.leaks <= one.told <= one.runs
        assert is_read(one.example, scenario.word) == (one.leaks > 0)
        tell = bool(tells(one.example, scenario.meaning))
        assert tell or one.leaks or not one.told


def test_the_recording_makes_the_points_of_the_page():
    puppy = {one.guard: one for one in recorded("Puppy")}
    assert puppy["sequence ban"].leaks == 0
    assert puppy["sequence ban"].told >= 10
    museum = {one.guard: one for one in recorded("Museum")}
    assert museum["no guard"].leaks > 10
    assert museum["sequence ban"].told < museum["no guard"].told


def test_a_verdict_is_green_for_nobody():
    leak = view.verdict(True, ("dog",))
    told = view.verdict(False, ("dog",), cut="Cut after 24 tokens.")
    held = view.verdict(False, ())
    assert len({leak.colour, told.colour, held.colour}) == 3
    assert told.words == (
        "The word is not there, but “dog” gives the secret away. Cut after 24 tokens."
    )
    assert "“dog” and “pup” give" in view.verdict(False, ("dog", "pup", "hound")).words
    assert "no guard has checked" in held.words


def test_an_answer_is_shown_literally():
    shown = view.answer("<b>x</b>\n$y$", view.SAID, "a leak")
    assert "<b>x" not in shown
    assert "&lt;b&gt;x&lt;/b&gt;⏎$y$" in shown
    assert readable("two words\t") == "two words⇥"


def test_the_reader_of_a_filtered_chat_sees_what_was_let_through():
    seen = Seen(hold_back=2, text="It is a <pup", fired=True, word_part=3, whole_word=False)
    shown = view.filtered_chat(seen, view.HELD)
    assert "It is a &lt;pup" in shown
    assert "The filter stopped this answer here." in shown
    assert view.filter_words(seen, "puppy", ()).startswith("“pup” is on the screen")
    none = dataclasses.replace(seen, word_part=0)
    assert view.filter_words(none, "puppy", ()).startswith("Nothing of the word")
    passed = dataclasses.replace(none, fired=False)
    assert "stopped" not in view.filtered_chat(passed, view.HELD)
    assert "“dog” is not the word" in view.filter_words(passed, "puppy", ("dog",))
    late = dataclasses.replace(passed, whole_word=True)
    assert "too late" in view.filter_words(late, "puppy", ())


def test_what_a_ban_takes_along_is_named():
    assert view.taken_line("he", ["·the", "·she"], 1476).endswith(
        "·the, ·she … and 1,474 more. Every other word that needs one of them is lost as well."
    )
    assert view.taken_line("x y", [], 0).startswith("No single token holds")
    assert view.ban_title(1, 1, 2).startswith(
        "The token ban takes 1 token away and leaves 1 other spelling; the sequence ban takes 2"
    )


def test_the_measured_costs_are_named():
    costly = Tally(guard="sequence ban", runs=5, leaks=0, blocked=0, milliseconds=0.3149)
    free = Tally(guard="no guard", runs=5, leaks=0, blocked=0, milliseconds=0.0)
    assert leaks.cost_line([free, costly]) == "Time for one token's guard: sequence ban 0.31 ms."
    assert leaks.cost_line([free]) == ""
