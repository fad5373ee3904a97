"""What stands over the picture: words, a field for a guess, and what to press."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import counted, markdown, readable
from components.kit.written import written_line
from components.overview import guess
from engine.overview.facts import Overview
from pages.frame import job
from pages.frame.live import Live, written
from pages.lesson import guesses
from pages.overview import writing

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

WRITE = 20
LONGEST_GUESS = 40
TAIL = 12
"""How many of the tokens that are being written stand beside Stop."""


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
        if running or written(live):
            st.button(
                "Start over",
                key="start_over",
                icon=":material/replay:",
                on_click=writing.start_over,
            )
        else:
            guesses.entry()
    place = words.empty()
    place.markdown(f":small[{markdown(said(live))}]")
    return place


def guess_form(live: Live, facts: Overview, *, over: bool) -> None:
    """Draw the field for a guess beside “Next token”: a form, so that Enter is a press of it."""
    with (
        st.form("guessing", clear_on_submit=True, border=False, width="content"),
        st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"),
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
