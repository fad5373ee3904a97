"""The speculative decoding page: a small draft makes writing faster and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.generation.controls import budget_control
from components.kit.show import chart
from components.kit.tasks import Task
from components.link import keys, widgets
from components.speculative import depth as speculative_depth
from components.speculative import rounds as draft_rounds
from engine.speculative.drafts import DraftKind
from pages.frame import frame, job
from pages.speculative import races, views

if TYPE_CHECKING:
    from engine.speculative.race import Lap

QUESTIONS = ("When does it pay?", "Same distribution?")

live = frame.live_prompt()
layers = live.model.architecture.layers


def controls(running: bool) -> races.Choice:
    """Draw the draft, its settings and the buttons."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="draft_controls"):
        kind = widgets.choice("Draft", races.kinds(live), key=keys.DRAFT)
        depth = max(layers // 3, 1)
        if kind == DraftKind.EARLY_EXIT and layers > 2:
            entry = keys.Limit(
                keys.EXIT_LAYERS, "First N layers", 1, layers - 1, depth, 1, whole=True
            )
            depth = int(widgets.slider(entry))
        k = int(widgets.slider(keys.limit(keys.GUESSES)))
        budget = budget_control()
        with st.container(horizontal=True, width="content"):
            job.start_button("Race", races.RACE, running=running, primary=True)
            if running:
                job.stop_button(races.RACE)
    return races.Choice(kind, depth, k, budget)


def race(choice: races.Choice) -> None:
    """Write with and without a draft, in turns."""
    place, bar = st.empty(), st.progress(0.0)

    def show(found: tuple[Lap, ...]) -> None:
        place.html(draft_rounds.rounds_html([lap.round for lap in found if lap.round]))
        count = sum(len(lap.steps) for lap in found)
        bar.progress(min(count / choice.budget, 1.0), text=f"{count} tokens each way")

    with job.running(races.RACE):
        job.follow(races.run(live, choice), show)


def one_round(choice: races.Choice) -> None:
    """Draw the rounds, and the chosen one with its numbers."""
    rounds = [lap.round for lap in races.laps(live, choice) if lap.round]
    left, right = st.columns([1.2, 1], gap="medium")
    most = max(len(rounds), 2)
    with right:
        st.session_state["round"] = min(st.session_state.get("round", 1), len(rounds))
        number = st.slider("Round", 1, most, key="round", disabled=len(rounds) < 2)
        part = rounds[min(number, len(rounds)) - 1]
        st.markdown(draft_rounds.round_words(part))
        if part.residual:
            figure = draft_rounds.residual_bars(part, live.model.tokenizer.bytes_of, key="residual")
            chart(figure, key="residual", alt="What a rejected guess was redrawn from, as bars")
    with left:
        st.html(draft_rounds.rounds_html(rounds, selected=part.index))
        st.html(draft_rounds.legend())


def visual() -> None:
    """Draw the race, its rounds, and the two questions: does it pay, and is it the same?"""
    running = job.asked(races.RACE) is not None
    choice = controls(running)
    job.say_problem(races.RACE)
    if running:
        race(choice)
    laps = races.laps(live, choice)
    if laps and any(lap.round for lap in laps):
        figure = draft_rounds.race_lanes(laps, key="lanes")
        chart(figure, key="lanes", alt="Speculative and plain decoding on one clock")
        st.markdown(
            draft_rounds.same_words(
                same=races.same_text(laps),
                greedy=live.settings.greedy,
                parts_at=races.parts_at(laps),
            )
        )
        one_round(choice)
    else:
        st.caption("Press Race: the draft guesses, the model checks, plain decoding runs beside.")
    pays, same = widgets.tabs("Question", QUESTIONS, key=keys.DRAFT_QUESTION)
    if pays.open:
        with pays:
            views.comparison(live, choice)
    if same.open:
        with same:
            views.law(live, choice)


def in_depth() -> None:
    """Write the rule and the formula with the last race's numbers."""
    laps, k = races.last(live)
    rounds = [lap.round for lap in laps if lap.round]
    speculative_depth.rule(next(iter(rounds), None), races.summed(laps, k), k)
    speculative_depth.rest()


def tasks() -> list[Task]:
    """Return what to try, checked on the last race."""
    laps, k = races.last(live)
    rounds = [lap.round for lap in laps if lap.round]
    return speculative_depth.tasks(
        rounds,
        races.summed(laps, k),
        greedy=live.settings.greedy,
        same=races.same_text(laps),
    )


frame.views(visual, in_depth, tasks)
