"""The overview page: the whole pipeline in one picture, one token at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.kit.tasks import Task
from components.kit.text import counted, markdown, readable
from components.kit.written import written_line
from components.link import keys, widgets
from components.overview import guess
from components.overview.depth import in_depth_words
from components.overview.flow import overview_flow
from components.overview.recorded import recorded_run
from components.shell.stages import STAGES, stage
from engine.overview.facts import Overview
from pages.frame import frame, job
from pages.frame.live import Live, written
from pages.frame.loading import loaded_model
from pages.overview import writing

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

LINKS = [entry.key for entry in STAGES if entry.key != "overview"]
WRITE = 20
LONGEST_GUESS = 40
TAIL = 12
"""How many of the tokens that are being written stand beside Stop."""


def picture(facts: Overview, *, recorded: bool = False) -> None:
    """Draw the pipeline; a click on a card opens that stage's page."""
    guards = bool(st.session_state.get(keys.SHOW_GUARDS))
    with st.container(key="picture"):
        opened = overview_flow(facts, stages=LINKS, guards=guards, recorded=recorded)
    if opened is not None:
        st.switch_page(stage(opened).page, query_params={})  # see frame._strip


def controls(live: Live, facts: Overview, *, running: bool) -> DeltaGenerator:
    """Draw what to press in one row over the picture; return the place of the words beside it."""
    over = running or writing.ended(live) or writing.room(live) <= 0
    words, buttons = st.columns([2.2, 3], vertical_alignment="center", gap="small")
    with buttons.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", key="controls"
    ):
        guess_form(live, facts, over=over)
        if running:
            job.stop_button(writing.JOB)
        else:
            job.start_button(
                f"Write {WRITE}",
                writing.JOB,
                running=running,
                key="write_more",
                wanted=WRITE,
                icon=":material/edit:",
                disabled=over,
            )
        st.button(
            "Start over", key="start_over", icon=":material/replay:", on_click=writing.start_over
        )
    return words.empty()


def guess_form(live: Live, facts: Overview, *, over: bool) -> None:
    """Draw the field for a guess beside “Next token”: a form, so that Enter is a press of it."""
    with (
        st.form("guessing", clear_on_submit=True, border=False, width=250),
        st.container(horizontal=True, vertical_alignment="center", gap="xsmall"),
    ):
        st.text_input(
            "Your guess",
            key=writing.GUESS,
            max_chars=LONGEST_GUESS,
            placeholder="your guess",
            width=116,
            label_visibility="collapsed",
            disabled=over,
        )
        st.form_submit_button(
            "Next token",
            key="next_token",
            type="primary",
            icon=":material/skip_next:",
            disabled=over,
            on_click=writing.append,
            args=(live, facts.sampling.drawn.id),
        )


def said(live: Live) -> str:
    """Return what stands beside the buttons, as plain text."""
    if writing.ended(live):
        return "The model wrote its end token, so the answer is over. Start over to go again."
    if writing.room(live) <= 0:
        return "The text has reached the cap of the traced pages. Start over to go again."
    drawn = writing.last_drawn(live)
    if drawn is not None:
        return guess.outcome(drawn.token, drawn.guess, drawn.typed)
    if written(live):
        return f"{counted(len(written(live)), 'token')} written. Which word do you expect next?"
    return guess.INVITATION


def text_line(live: Live) -> str:
    """Return the text so far, as HTML."""
    data = live.model.tokenizer.bytes_of
    return written_line(
        live.request.prompt, [(token_id, data(token_id)) for token_id in written(live)]
    )


def keep_writing(live: Live, count: int, words: DeltaGenerator, line: DeltaGenerator) -> None:
    """Write `count` tokens, showing each as it comes: the last few beside Stop, all in the line."""

    def show(_: int) -> None:
        data = b"".join(live.model.tokenizer.bytes_of(i) for i in written(live)[-TAIL:])
        words.markdown(f":small[… {markdown(readable(data.decode('utf-8', 'replace')))}]")
        line.html(text_line(live))

    with job.running(writing.JOB):
        job.follow(writing.write(live, min(count, writing.room(live))), show)


def visual() -> None:
    """Draw the buttons, the picture and the text so far."""
    job.say_problem(writing.JOB)
    count = job.asked(writing.JOB)
    words = controls(live, facts, running=count is not None)
    words.markdown(f":small[{markdown(said(live))}]")
    picture(facts)
    line = st.empty()
    line.html(text_line(live))
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
        ),
        Task(
            "Write three tokens, one at a time, and watch the light walk each time.",
            count >= 3,
            f"{counted(count, 'token')} written.",
        ),
        Task(
            "Let a token come that is not among the model’s first three. The seed decides.",
            unlikely,
            f"The last one was number {drawn.token.rank:,}." if drawn else "None has come yet.",
        ),
        Task(
            "Change the settings so that nothing is left to chance.",
            left == 1 and facts.sampling.drawn.id == best,
            f"Now {counted(left, 'token')} can be drawn.",
        ),
    ]


request = frame.current_request()
if loaded_model(request.source) is None:
    picture(recorded_run()[0], recorded=True)
live = frame.live_prompt()
facts = live.overview(written(live), writing.next_number(live))
frame.views(visual, lambda: in_depth_words(facts), tasks)
