"""The room in the frame: how to open or join one, the teacher's bar and the student's."""

from __future__ import annotations

import streamlit as st

from components.classroom.tab import tab
from components.kit.text import markdown, readable
from components.link import keys, widgets
from components.shell.sidebar import Request
from components.shell.stages import Stage
from engine.basics.errors import EngineError
from engine.classroom.records import LONGEST_NAME, LONGEST_QUESTION, Question, RoomState
from engine.classroom.registry import CODE_LENGTH, tidy
from engine.sampling.chain import SamplingSettings
from pages.frame import class_rounds, classroom
from pages.frame.class_rounds import ASK_AGAIN, ask, ask_for_next
from pages.frame.nudge import in_fragment, own_session

TEACHER_LOOKS = 1.0
"""Seconds between two looks of the teacher's session at its room: one session in a class."""
STUDENT_LOOKS = 20.0
"""Seconds between two signs of life of a student's session; what is new comes by itself."""

TYPED_CODE, TYPED_NAME = "room_code", "join_name"
REFUSED = "class_refused"
"""Why nobody was let in, to be said once."""


def sidebar_controls(state: RoomState | None) -> None:
    """Draw how to open a room, to join one, or to leave it."""
    with st.expander("A class together", key="class_sidebar", expanded=state is not None):
        if state is None:
            st.caption("One shows, all follow on their own screens, and guess against the model.")
            st.button(
                "Open a room",
                key="open_room",
                icon=":material/groups:",
                on_click=classroom.open_room,
                width="stretch",
            )
            with st.form("join_by_code", border=False, clear_on_submit=True):
                st.text_input("Code of a room", max_chars=2 * CODE_LENGTH, key=TYPED_CODE)
                st.form_submit_button("Join", width="stretch", on_click=_invite)
        elif state.role == "teacher":
            st.markdown(f"You lead room **{state.code}**.")
            st.button(
                "Close the room",
                key="close_room",
                on_click=classroom.close_room,
                help="Names, answers and scores are forgotten. They were in memory only.",
                width="stretch",
            )
        else:
            st.markdown(f"You are in room **{state.code}**.")
            st.button(
                "Leave the room", key="leave_room", on_click=classroom.leave_room, width="stretch"
            )


def bar(
    stage: Stage,
    state: RoomState | None,
    request: Request,
    settings: SamplingSettings,
    seed: int,
) -> None:
    """Draw the room's bar over the prompt; nothing for whoever is in no room."""
    note = st.session_state.pop(classroom.NOTE, None)
    if note:
        st.toast(markdown(note), icon=":material/groups:", duration="long")
    mine = classroom.seat()
    if state is None or mine is None:
        return
    widgets.write(keys.ROOM, mine.code)
    with st.container(key="class_row", horizontal=True, vertical_alignment="center", gap="small"):
        if state.role == "teacher":
            st.fragment(_teacher, key=classroom.BAR, run_every=TEACHER_LOOKS)(stage, request)
            _teacher_buttons(state, stage, request, settings, seed)
        else:
            st.fragment(_student, key=classroom.BAR, run_every=STUDENT_LOOKS)(stage)


def _teacher(stage: Stage, request: Request) -> None:
    """Draw who is there, and publish what a fragment of the page has changed since."""
    state = classroom.look()
    mine = classroom.seat()
    if state is None or mine is None:
        st.rerun()
    classroom.sweep(state)
    if in_fragment() and not classroom.covers(state):
        classroom.publish(stage, request)
    now = state.round
    asked = f" · {now.answered} answered" if now is not None and not now.revealed else ""
    st.markdown(
        f"**{state.code}** · {state.here} here, {state.following} follow{asked}", width="content"
    )
    tab(mine.code, keep=mine.key)


def _teacher_buttons(
    state: RoomState, stage: Stage, request: Request, settings: SamplingSettings, seed: int
) -> None:
    if state.screen == "page":
        st.button("Code", key="show_code", on_click=classroom.turn_to, args=("code",))
        if state.round is not None:
            st.button(
                "Back to the question",
                key="show_round",
                on_click=classroom.turn_to,
                args=("round",),
            )
    else:
        st.button("Back to the page", key="show_page", on_click=classroom.turn_to, args=("page",))
    again = st.session_state.pop(ASK_AGAIN, False)
    pressed = st.button(
        "Ask: what comes next?",
        key="ask_next",
        type="primary",
        help="Everybody who follows types the next word. The projector shows how many have "
        "answered, and after the reveal the class beside the model.",
    )
    if pressed or again:
        ask_for_next(stage, request, settings, seed)
    with st.popover("More", key="class_more"):
        _own_question()
        _names(state)


def _own_question() -> None:
    """Draw a question of the teacher's own, with options."""
    with st.form("own_question", border=False):
        text = st.text_input("A question of your own", max_chars=LONGEST_QUESTION)
        lines = st.text_area("Its answers, one per line", height=110)
        if st.form_submit_button("Ask it"):
            options = tuple(" ".join(line.split()) for line in (lines or "").split("\n"))
            options = tuple(option for option in options if option)
            if len(options) < 2:
                st.error("Write at least two answers, one per line.")
            else:
                ask(Question((text or "").strip(), options=options))


def _names(state: RoomState) -> None:
    """Draw who gave a name, each with the way to take it off the screens."""
    named = [one for one in state.members if one.name]
    if not named:
        st.caption("Nobody has given a name.")
        return
    st.caption("Names; a press takes one off every screen.")
    with st.container(horizontal=True, gap="xsmall", height=160 if len(named) > 12 else "content"):
        for one in named:
            st.button(
                markdown(readable(one.name)) + ("" if one.here else " (away)"),
                key=f"hide_name_{one.number}",
                icon=":material/visibility_off:",
                on_click=_hide_name,
                args=(one.number,),
            )


def _hide_name(number: int) -> None:
    mine = classroom.seat()
    if mine is not None:
        classroom.rooms().hide_name(mine.code, mine.key, number)
        classroom.tell_students()


def _student(stage: Stage) -> None:
    """Draw the student's way out and back, and go where the teacher is."""
    state = classroom.look()
    mine = classroom.seat()
    if (
        state is None
        or mine is None
        or classroom.picture(state) != st.session_state.get(classroom.DRAWN)
    ):
        st.rerun()
    go = classroom.destination(state, stage)  # who has moved away no longer follows after this
    follows = classroom.follows()
    if follows:
        note = "You follow"
    elif state.screen == "round" and state.round is not None and not state.round.revealed:
        note = "A question is open: follow to answer"
    else:
        note = "You explore alone"
    parts = (note, f"room {state.code}", markdown(readable(state.name)))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Explore alone" if follows else "Follow the class",
            key="stop_following" if follows else "follow_class",
            type="tertiary" if follows else "primary",
            on_click=classroom.explore_alone if follows else classroom.come_back,
        )
        st.caption(" · ".join(part for part in parts if part), width="content")
    tab(mine.code, keep=mine.key, go=go)


def screen(state: RoomState | None) -> None:
    """Draw what stands in the place of the page: the way in, the code, or the round."""
    if state is None:
        _join_form()
    else:
        class_rounds.screen(state)


def _join_form() -> None:
    """Draw the card that lets a student in.

    A tab that was loaded anew sits down again without it, with the key that it has kept.
    """
    code = str(st.session_state[classroom.INVITED])
    kept = tab(code, ask=True, key="class_kept")
    if kept:
        try:
            state = classroom.rooms().come_back(code, kept, own_session())
        except EngineError:
            pass  # the key of another day
        else:
            classroom.sit(code, kept, state.role)
            st.rerun()
    with st.container(border=True, key="join_room", width=460), st.form("join", border=False):
        st.markdown(f"**Join room {markdown(code)}**")
        st.text_input(
            "Your name, if you like; the class may see it", max_chars=LONGEST_NAME, key=TYPED_NAME
        )
        refused = st.session_state.pop(REFUSED, None)
        if refused:
            st.error(markdown(refused))
        st.form_submit_button("Join", type="primary", width="stretch", on_click=_join, args=(code,))
        st.form_submit_button(
            "Look around without joining", type="tertiary", on_click=classroom.decline
        )


def _invite() -> None:
    """Take the code that was typed for one of a link; for callbacks."""
    code = tidy(str(st.session_state.get(TYPED_CODE) or ""))
    if code:
        st.session_state[classroom.INVITED] = code


def _join(code: str) -> None:
    """Let the student in, with the name that was typed; for callbacks."""
    try:
        key = classroom.rooms().enter(
            code, str(st.session_state.get(TYPED_NAME) or ""), own_session()
        )
    except EngineError as error:
        st.session_state[REFUSED] = str(error)
    else:
        classroom.sit(code, key, "student")
