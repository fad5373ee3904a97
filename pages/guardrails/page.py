"""The guardrails page: where the outcome can be steered, and where each kind of guard leaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from components.guardrails import depth, leaks
from components.guardrails.controls import controls_table
from components.guardrails.scenario import scenario_controls, scenario_line, scenario_now
from components.kit.tasks import Task
from components.link import keys, widgets
from engine.guardrails.ban import spellings
from engine.guardrails.scenario import Scenario, prompt_ids, system_place
from pages.frame import frame
from pages.guardrails import comparison, constraint, guess, single

live = frame.live_prompt(traced=False, used=False)

ALL_CONTROLS = "Controls"
LOOKS: Mapping[str, Callable[[Scenario], None]] = {
    "All guards": lambda now: comparison.show(live, now),
    "Input filter": lambda now: single.input_filter(live, now),
    "Special tokens": lambda now: single.special_tokens(live, now),
    "Logit ban": lambda now: single.logit_ban(live, now),
    "Format": lambda now: constraint.show(live, now),
    "Output filter": lambda now: single.output_filter(live, now),
    ALL_CONTROLS: lambda now: all_controls(),
}


def visual() -> None:
    """Draw the choice of the guard, the scenario, and the guard that was chosen."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        look = widgets.choice("Guard", list(LOOKS), key=keys.GUARD, label_visibility="collapsed")
        now = scenario_controls()
    LOOKS[look](now)
    if look != ALL_CONTROLS:
        scenario_line(now, system_place(live.model.tokenizer))


def all_controls() -> None:
    """Draw everything that steers the outcome, by stage."""
    with st.container(key="main_picture"):
        controls_table()
    st.markdown("#### Where a guard can stand")
    st.html(leaks.places_table())


def in_depth() -> None:
    """Write what the guards compute, with this scenario's numbers."""
    now = scenario_controls()
    model = live.model
    ways = spellings(model.tokenizer, now.word)
    plain = prompt_ids(model, now.system, now.question)
    ruled = prompt_ids(model, f"{now.system} {now.rule}", now.question)
    depth.in_depth_words(
        word=now.word,
        banned=len({way.ids[0] for way in ways if way.can_be_banned}),
        spellings=len(ways),
        vocabulary=model.architecture.vocabulary,
        prompt_tokens=len(plain),
        rule_tokens=len(ruled) - len(plain),
    )


def tasks() -> list[Task]:
    """Return what to try."""
    return single.tasks(live, scenario_controls())


frame.views(visual, in_depth, tasks, lambda: guess.ask(live, scenario_now()))
