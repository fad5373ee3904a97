"""The overview page: the whole pipeline in one picture, one token at a time."""

from __future__ import annotations

import streamlit as st

from components.kit.written import written_line
from components.link import keys, widgets
from components.overview.flow import overview_flow
from components.overview.recorded import recorded_run
from components.shell.stages import STAGES, stage
from engine.overview.facts import Overview
from pages.frame import frame, job
from pages.frame.live import Live
from pages.frame.loading import loaded_model, wait_for_model
from pages.overview import writing

LINKS = [entry.key for entry in STAGES if entry.key != "overview"]
WRITE = 20
WRITING = "writing"
"""The job of writing so many tokens."""


def picture(facts: Overview, *, recorded: bool = False) -> None:
    """Draw the pipeline; a click on a card opens that stage's page."""
    guards = bool(st.session_state.get(keys.SHOW_GUARDS))
    opened = overview_flow(facts, stages=LINKS, guards=guards, recorded=recorded)
    if opened is not None:
        st.switch_page(stage(opened).page, query_params={})  # see frame._strip


def controls(live: Live, facts: Overview) -> None:
    """Draw the buttons under the picture."""
    over = writing.ended(live) or writing.room(live) <= 0
    with st.container(horizontal=True, vertical_alignment="center", key="controls"):
        st.button(
            "Next token",
            key="next_token",
            type="primary",
            icon=":material/skip_next:",
            disabled=over,
            on_click=writing.append,
            args=(live, facts.sampling.drawn.id),
        )
        job.start_button(
            f"Write {WRITE}",
            WRITING,
            running=False,
            key="write_more",
            wanted=WRITE,
            icon=":material/edit:",
            disabled=over,
        )
        st.button(
            "Start over", key="start_over", icon=":material/replay:", on_click=writing.start_over
        )
        widgets.toggle("Where could a guardrail stand?", key=keys.SHOW_GUARDS)


def text_line(live: Live) -> str:
    """Return the text so far, as HTML."""
    data = live.model.tokenizer.bytes_of
    return written_line(
        live.request.prompt, [(token_id, data(token_id)) for token_id in writing.written(live)]
    )


def keep_writing(live: Live, count: int) -> None:
    """Write `count` tokens, showing each as it comes."""
    line = st.empty()
    job.stop_button(WRITING)
    with job.running(WRITING):
        steps = writing.write(live, min(count, writing.room(live)))
        job.follow(steps, lambda _: line.html(text_line(live)))


def say_what_ended(live: Live) -> None:
    """Say why there is no next token, if there is none."""
    job.say_problem(WRITING)
    if writing.ended(live):
        st.caption("The model wrote its end token, so the answer is over. Start over to go again.")
    elif writing.room(live) <= 0:
        st.caption("The text has reached the cap of the traced pages. Start over to go again.")


request = frame.current_request()
if loaded_model(request.source) is None:
    picture(recorded_run()[0], recorded=True)
    wait_for_model(request.source)
    st.rerun()  # one run draws one picture
live = frame.live_prompt()
facts = live.overview(writing.written(live), writing.next_number(live))
picture(facts)
if count := job.asked(WRITING):
    keep_writing(live, count)
st.html(text_line(live))
controls(live, facts)
say_what_ended(live)
