"""The speculative decoding page: a draft guesses ahead, and every probability stays as it was."""

from __future__ import annotations

import streamlit as st

from components.generation.controls import budget_control
from components.kit.tasks import Task
from components.kit.text import markdown
from components.link import keys, widgets
from components.speculative import depth as speculative_depth
from components.speculative import recorded
from engine.speculative.drafts import DraftKind
from pages.frame import frame, job
from pages.speculative import guess, race_part, races, views

PARTS = ("The race", "When does it pay?", "Same distribution?")

live = frame.live_prompt()
layers = live.model.architecture.layers


def draft_settings() -> races.Choice:
    """Draw the draft and its settings behind one button, and return the choice."""
    kinds = races.kinds(live)
    named = st.session_state.get(keys.DRAFT) or st.query_params.get(keys.DRAFT)
    label = f"Draft: {markdown(named if named in kinds else kinds[0])}"
    with st.popover(label, key="draft_settings"):
        kind = widgets.choice("Draft", kinds, key=keys.DRAFT, draw=st.selectbox)
        k = int(widgets.slider(keys.limit(keys.GUESSES)))
        budget = budget_control()
        depth = max(layers // 3, 1)
        if kind == DraftKind.EARLY_EXIT and layers > 2:
            entry = keys.Limit(
                keys.EXIT_LAYERS, "First N layers", 1, layers - 1, depth, 1, whole=True
            )
            depth = int(widgets.slider(entry))
    return races.Choice(kind, depth, k, budget)


def open_part() -> str:
    """Draw the choice of what the page shows."""
    return widgets.choice("Part", PARTS, key=keys.DRAFT_QUESTION, label_visibility="collapsed")


def visual() -> None:
    """Draw the race, or one of the two questions: does it pay, and is it the same?"""
    running = job.asked(races.RACE) is not None
    with st.container(horizontal=True, vertical_alignment="bottom", key="draft_controls"):
        part = open_part()
        if part == PARTS[2]:
            name = views.law_draft()
        else:
            choice = draft_settings()
        if part == PARTS[0]:
            job.start_button("Race my prompt", races.RACE, running=running, primary=True)
            if running:
                job.stop_button(races.RACE)
    job.say_problem(races.RACE)
    if part == PARTS[2]:
        views.law(live, name, draft_settings)
    elif part == PARTS[1]:
        views.comparison(live, choice)
    else:
        if running:
            race_part.write(live, choice)
        race_part.show(live, choice)


def in_depth() -> None:
    """Write the rule and the formula with the last race's numbers."""
    laps, k = races.last(live)
    own = bool(laps)
    if not own:
        laps, k = recorded.recorded().laps, recorded.GUESSES
    rounds = [lap.round for lap in laps if lap.round]
    speculative_depth.rule(next(iter(rounds), None), races.summed(laps, k), k, own=own)
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


frame.views(visual, in_depth, tasks, lambda: guess.ask(live))
