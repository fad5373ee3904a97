"""The overview page: the whole pipeline in one picture, one token at a time."""

from __future__ import annotations

import streamlit as st

from components.kit.tasks import Task
from components.kit.text import counted
from components.link import keys, widgets
from components.overview.depth import in_depth_words
from components.overview.flow import overview_flow
from components.overview.recorded import recorded_run
from components.shell.stages import STAGES
from engine.overview.facts import Overview
from pages.frame import frame, job
from pages.frame.live import HIDES, written
from pages.frame.loading import loaded_model
from pages.overview import guess, writing
from pages.overview.controls import controls, keep_writing, text_line

LINKS = [entry.key for entry in STAGES if entry.key != "overview"]


def picture(facts: Overview, *, recorded: bool = False) -> None:
    """Draw the pipeline; a click on a card opens that stage's page."""
    guards = bool(st.session_state.get(keys.SHOW_GUARDS))
    hides = bool(st.session_state.get(HIDES))
    with st.container(key="main_picture"):
        overview_flow(facts, stages=LINKS, guards=guards, recorded=recorded, hides=hides)


def visual() -> None:
    """Draw the buttons, the picture and the text so far."""
    job.say_problem(writing.JOB)
    count = job.asked(writing.JOB)
    words = controls(live, facts, running=count is not None)
    picture(facts)
    line = st.empty()
    line.html(text_line(live))
    with st.container(horizontal=True):
        st.toggle(
            "Hide what the model expects",
            key=HIDES,
            persist_state="session",
            help="For a class that guesses: scores and draw are covered. After “Next token” the "
            "page says where the guess stood and which token came.",
        )
        widgets.toggle("Where could a guardrail stand?", key=keys.SHOW_GUARDS)
    if count:
        keep_writing(live, count, words, line)


def tasks() -> list[Task]:
    """Return what to try."""
    count, drawn = len(written(live)), writing.last_drawn(live)
    hit = drawn is not None and drawn.guess is not None and drawn.guess.rank <= 3
    left = facts.sampling.survivors
    best = facts.candidates[0].id
    unlikely = drawn is not None and drawn.token.rank > 3
    return [
        Task(
            "Guess before you press “Next token”: a word that is among the model’s first three.",
            hit,
            "Your last guess was." if hit else "No such guess yet.",
            "Type one word into the box beside the button. Words of daily life lead most lists.",
        ),
        Task(
            "Write three tokens, one at a time, and watch the light walk each time.",
            count >= 3,
            f"{counted(count, 'token')} written.",
            "The pace beside ▶ slows the light down, and W stops it.",
        ),
        Task(
            "Let a token come that is not among the model’s first three. The seed decides.",
            unlikely,
            f"The last one was number {drawn.token.rank:,}." if drawn else "None has come yet.",
            "Change the seed at the left, or raise the temperature, and press “Next token” again.",
        ),
        Task(
            "Change the settings so that nothing is left to chance.",
            left == 1 and facts.sampling.drawn.id == best,
            f"Now {counted(left, 'token')} can be drawn.",
            "Temperature 0 always takes the likeliest. Top-k 1 does it too. Why?",
        ),
    ]


request = frame.current_request()
if loaded_model(request.source) is None:
    picture(recorded_run()[0], recorded=True)
live = frame.live_prompt()
facts = live.overview(written(live), writing.next_number(live))
frame.views(
    visual,
    lambda: in_depth_words(facts),
    tasks,
    lambda: guess.ask(live, written(live), facts),
)
