"""The generation page: write an answer, stop it, look at each token, and branch off."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components.generation import controls, depth
from components.generation.alternatives import alternatives, headline
from components.generation.answer_text import Piece, answer_html, answer_text, legend, pieces
from components.kit.tasks import Task
from components.kit.text import markdown, visible
from engine.generation.branches import Setup, Written
from engine.kv_cache.sizes import size_of
from pages.frame import frame, job
from pages.generation import answers, guess
from pages.generation.views import looks

Answer = tuple[Written, ...]

live = frame.live_prompt()
tokenizer = live.model.tokenizer


def drawn(answer: Answer) -> list[Piece]:
    """Return the answer's tokens as they are drawn."""
    return pieces(answer, answers.log_of(live, answer)[0], live.model.stop_ids)


def start_controls(answer: Answer) -> tuple[Setup, answers.Wanted | None]:
    """Draw what starts and stops a run; return with what it is started, and what is to run now."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="run_controls"):
        buttons = st.container(width="content")
        budget, stops = controls.budget_and_stops()
    setup = Setup(live.settings, live.seed, stops, budget)
    asked = answers.wanted(live, setup)
    with buttons:
        controls.run_buttons(
            answer,
            asked is not None,
            write=lambda: answers.begin(live),
            more=lambda: answers.go_on(live),
            another=lambda: answers.another(live, setup),
            forget=lambda: answers.start_over(live),
            stop=partial(job.stop_button, answers.RUN, on_stop=partial(answers.note_stop, live)),
        )
    return setup, asked


def run(asked: answers.Wanted, setup: Setup) -> None:
    """Write, showing each token as it comes."""
    line, count = st.empty(), st.empty()
    before = drawn(answers.shown(live)) if asked.branch is not None else []
    line.html(answer_html(live.text, before))

    def show(answer: Answer) -> None:
        line.html(answer_html(live.text, drawn(answer)))
        count.caption(controls.progress(len(answer), answer[-1].step))

    with job.running(answers.RUN):
        job.follow(answers.write(live, asked, setup), show)


def replay(answer: Answer) -> int:
    """Draw the slider over the steps and return the index of the chosen token."""
    most = max(len(answer), 2)
    st.session_state[answers.STEP] = min(st.session_state.get(answers.STEP, most), len(answer))
    chosen = st.slider(
        "Replay: the answer up to token",
        1,
        most,
        key=answers.STEP,
        persist_state="session",
        disabled=len(answer) < 2,
    )
    return min(int(chosen), len(answer)) - 1


def choose(index: int) -> None:
    """Show the answer up to a token that was clicked."""
    st.session_state[answers.STEP] = index + 1


def chosen_token(answer: Answer, index: int) -> None:
    """Draw one token's alternatives."""
    step = answer[index].step
    st.markdown(f"#### Token {index + 1}: {markdown(visible(step.data))}")
    st.markdown(headline(step))
    alternatives(
        step,
        tokenizer.bytes_of,
        key="alternatives",
        on_take=lambda token_id: answers.take(live, index, token_id),
        taken=[
            a.id for a in step.alternatives if answers.branch_with(live, index, a.id) is not None
        ],
    )
    st.caption(controls.setup_line(answer, index))


def visual() -> None:
    """Draw the run, its text, and the chosen token's alternatives."""
    answer = answers.shown(live)
    setup, asked = start_controls(answer)
    job.say_problem(answers.RUN)
    with st.container(key="main_picture"):
        text, card = st.columns([1.4, 1], gap="medium")
    with text:
        if asked is not None:
            run(asked, setup)
        if not answer:
            st.html(answer_html(live.text, []))
            st.markdown(controls.why_it_ended(answer, stopped=True))
            return
        place = st.container()
        index = replay(answer)
        with place:
            answer_text(
                live.text,
                drawn(answer),
                key="answer",
                selected=index,
                upto=index + 1,
                on_select=choose,
            )
            st.html(legend())
            st.markdown(
                controls.why_it_ended(answer, stopped=answers.was_stopped(live))
                + controls.other_settings(answer[-1].setup, setup)
            )
    with card:
        chosen_token(answer, index)
    looks(live, answer, index)


def in_depth() -> None:
    """Show the loop's formula with this answer's numbers."""
    depth.show(size_of(live.model), len(live.ids), answers.shown(live))


def tasks() -> list[Task]:
    """Return what to try."""
    every = answers.tree(live)
    paths = [every.path(branch) for branch in range(len(every.branches))]
    return depth.tasks(paths)


frame.views(visual, in_depth, tasks, lambda: guess.ask(live))
