"""All guards over the same runs: the recorded counts at once, this model's own on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.guardrails import leaks
from components.guardrails.recorded import BUDGET, SEEDS, SETTINGS, recorded
from components.guardrails.scenario import name_of
from components.kit.text import markdown
from components.link import keys
from components.shell.stages import stage
from engine.guardrails.scenario import SCENARIOS, Scenario
from pages.frame import job
from pages.frame.kept import keep, kept
from pages.guardrails import answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.guardrails.comparison import Tally
    from pages.frame.live import Live

COMPARE, TALLIES = "compare", "guard_tallies"


def show(live: Live, now: Scenario) -> None:
    """Draw how often each guard leaked, and the button that counts it here."""
    runs = len(now.wordings()) * len(SEEDS)
    key = (live.model.source, now, live.settings)
    with st.container(key="main_picture"):
        place = st.empty()
    note = st.empty()
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = job.button(f"Run every guard {runs} times here (about a minute)", COMPARE)
        st.page_link(
            stage("overview").page,
            label="See the places on the way from text to text",
            query_params={keys.SHOW_GUARDS: "true"},
        )
    if asked:

        def draw(tallies: tuple[Tally, ...]) -> None:
            keep(TALLIES, key, tallies)
            with place.container():
                _picture([tally for tally in tallies if tally.runs], now)

        with job.running(COMPARE):
            job.follow(answers.compared(live, now), draw)
    mine = kept(TALLIES, key)
    name = name_of(now)
    if mine is None:
        shown = SCENARIOS[name or "Puppy"]
        tallies: Sequence[Tally] = recorded(name or "Puppy")
    else:
        shown, tallies = now, [tally for tally in mine if tally.runs]
    with place.container():
        _picture(tallies, shown)
    note.caption(_note(mine is None, name, tallies))
    st.markdown("#### Where a guard can stand")
    st.html(leaks.places_table())


def _picture(tallies: Sequence[Tally], scenario: Scenario) -> None:
    st.markdown(f"#### {markdown(leaks.leak_title(tallies))}")
    st.html(leaks.leak_rows(tallies, scenario))


def _note(is_recorded: bool, name: str | None, tallies: Sequence[Tally]) -> str:
    """Return where the counts come from and what they count."""
    counted = (
        f"Five wordings of the question × {len(SEEDS)} seeds, {BUDGET} tokens each; the filters "
        "judge the runs without a guard. A leak is an answer in which a person can read the word; "
        "“told” counts the listed other words, which is a coarse measure. "
    )
    if not is_recorded:
        return counted + leaks.cost_line(tallies)
    source = (
        f"Recorded with SmolLM2-135M-Instruct, temperature {SETTINGS.temperature:g}, "
        f"top-p {SETTINGS.top_p:g}"
    )
    if name is None:
        source += ", for the scenario “Puppy”: yours is counted when you run it here"
    return f"**{source}.** {counted}"
