"""The words and bars of the guardrails page, from plain values."""

from __future__ import annotations

from components.guardrails import view
from components.kit.figure import payload
from components.kit.text import readable
from engine.guardrails.comparison import Tally


def tally(guard, leaks, blocked=0):
    return Tally(guard=guard, runs=50, leaks=leaks, blocked=blocked, milliseconds=0.1)


def test_the_title_names_what_the_bars_say():
    some = [tally("no guard", 41), tally("token ban", 9), tally("system turn", 30)]
    assert view.leak_title(some) == (
        "Without a guard the word leaks in 41 of 50 runs, least with token ban: 9"
    )
    tight = view.leak_title([*some, tally("sequence ban", 0), tally("output filter", 0)])
    assert tight.endswith("41 of 50 runs; never with: sequence ban, output filter")


def test_the_bars_carry_the_counts_and_stay_small():
    figure = view.leak_figure([tally("no guard", 41), tally("output filter", 0, 41)], "title")
    stopped, leaked = figure.data
    assert list(leaked.x) == [41, 0]
    assert list(stopped.x) == [0, 41]
    assert list(stopped.base) == [41, 0]
    assert list(figure.layout.xaxis.range) == [0, 50]
    assert payload(figure) < 50_000


def test_an_answer_is_shown_literally():
    shown = view.answer("<b>x</b>\n$y$", leaked=True, note="a leak")
    assert "<b>x" not in shown
    assert "&lt;b&gt;x&lt;/b&gt;⏎$y$" in shown
    assert readable("two words\t") == "two words⇥"


def test_the_measured_costs_are_named():
    costly = Tally(guard="sequence ban", runs=5, leaks=0, blocked=0, milliseconds=0.3149)
    free = Tally(guard="no guard", runs=5, leaks=0, blocked=0, milliseconds=0.0)
    assert view.cost_line([free, costly]) == "Time for one token's guard: sequence ban 0.31 ms."
    assert view.cost_line([free]) == ""
