"""The class together: this session's seat in a room, and how a student follows the teacher.

The story of a follower. The teacher's session publishes its view whenever it has changed, and
nudges the students' sessions. There the bar of the room is drawn anew and tells the browser tab to
go to the teacher's address, as if the student had pressed Back to it. That run begins with `begin`,
which finds the mark in the address and reads the address like a link that has just been opened.
`end` remembers what the page looks like then: once it looks different, the student has moved away.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from components.classroom.address import page_path
from components.classroom.tab import Go
from components.link import check, keys
from components.shell.sidebar import Request
from components.shell.stages import Stage
from engine.basics.errors import EngineError
from engine.classroom.records import NoRoomError, Role, RoomState, Screen, View
from engine.classroom.registry import Rooms, tidy
from pages.frame import job, trying
from pages.frame.kept import forget, keep, last
from pages.frame.live import WRITTEN
from pages.frame.nudge import closed, nudge, own_session

BAR = "class_bar"
"""Key of the fragment that a nudge draws anew."""
SEAT = "class_seat"
INVITED = "class_invited"
"""The code that the link brought, until its student has joined."""
FOLLOW = "class_follow"
"""Whether this student follows. No widget holds it: what code sets in one can be lost on its way to
the browser when one run overtakes another, and would come back as the student's own wish."""
APPLIED = "class_applied"
"""The version of the teacher's view that this session went to last."""
GOING = "class_going"
"""The version that this session has gone to and not yet drawn."""
LEFT = "class_left"
"""What the page looked like when the student had arrived there."""
DRAWN = "class_drawn"
NOTE = "class_note"
"""A sentence for the next run."""


@dataclass(frozen=True)
class Seat:
    """Where this session sits."""

    code: str
    key: str
    role: Role


@st.cache_resource(show_spinner=False)
def rooms() -> Rooms:
    """Return the rooms of this server."""
    return Rooms()


def seat() -> Seat | None:
    """Return this session's seat; None if it is in no room."""
    found: Seat | None = st.session_state.get(SEAT)
    return found


def leads() -> bool:
    """Return whether this session is the teacher's of a room."""
    mine = seat()
    return mine is not None and mine.role == "teacher"


def look() -> RoomState | None:
    """Return what this session may know of its room; None if it is in none, or in none any more."""
    mine = seat()
    if mine is None:
        return None
    try:
        return rooms().look(mine.code, mine.key)
    except NoRoomError:
        stand_up("The room is closed. What you see is your own page again.")
        return None


def stand_up(note: str) -> None:
    """Leave the seat, and say why in the next run."""
    for key in (SEAT, INVITED, APPLIED, LEFT, GOING, DRAWN):
        st.session_state.pop(key, None)
    st.query_params.pop(keys.ROOM, None)
    st.session_state[NOTE] = note


def sit(code: str, key: str, role: Role) -> None:
    """Take a seat. Whoever joins follows at first."""
    st.session_state[SEAT] = Seat(code, key, role)
    st.session_state.pop(INVITED, None)
    st.session_state.pop(NOTE, None)
    if role == "student":
        st.session_state[FOLLOW] = True


def open_room() -> None:
    """Open a room as its teacher; for callbacks."""
    try:
        code, key = rooms().open(own_session())
    except EngineError as error:
        st.session_state[NOTE] = str(error)
        return
    sit(code, key, "teacher")


def close_room() -> None:
    """Close the teacher's room; for callbacks."""
    mine = seat()
    if mine is not None:
        seats = rooms().seats(mine.code)
        rooms().close(mine.code, mine.key)
        nudge(seats, BAR)
        stand_up("The room is closed, and all that was in it is forgotten.")


def leave_room() -> None:
    """Leave the room as a student; for callbacks."""
    mine = seat()
    if mine is not None:
        rooms().leave(mine.code, mine.key)
        stand_up("You have left the room. The page stays as it is.")


def tell_students() -> None:
    """Have the bar of every student drawn anew, since the room has changed."""
    mine = seat()
    if mine is not None:
        nudge(rooms().seats(mine.code), BAR)


def follows() -> bool:
    """Return whether this student follows the teacher."""
    return bool(st.session_state.get(FOLLOW, True))


def invited() -> bool:
    """Return whether a link or a code has led here, and nobody has joined yet."""
    return seat() is None and INVITED in st.session_state


def _check_invitation() -> None:
    """Turn away whoever has the code of no room, and say so."""
    code = st.session_state.get(INVITED)
    if code is not None and not rooms().exists(code):
        decline()
        st.session_state[NOTE] = (
            f"There is no room {code} on this server. Look at the code once more; the room may "
            "also be closed."
        )


def decline() -> None:
    """Forget the invitation."""
    st.session_state.pop(INVITED, None)
    st.query_params.pop(keys.ROOM, None)


def covers(state: RoomState | None) -> bool:
    """Return whether the room stands in the place of the page on this screen."""
    if state is None:
        return False
    if state.role == "teacher":
        return state.screen != "page"
    return state.screen == "round" and state.round is not None and follows()


def begin(stage: Stage) -> RoomState | None:
    """At the start of a run, before any widget is drawn: go with the room; return its state."""
    state = look()
    if state is None:
        code = tidy(st.query_params.get(keys.ROOM, ""))
        if code:
            st.session_state[INVITED] = code
        _check_invitation()
        return None
    if keys.FOLLOWED in st.query_params:
        _arrive(stage, state)
    elif state.role == "student" and follows() and moved(stage):
        explore_alone()
    elif state.screen != "page" and state.role == "teacher" and _went_on(stage):
        turn_to("page")
        state = replace(state, screen="page")
    if covers(state):
        check.hold(keys.linked())
    st.session_state[DRAWN] = picture(state)
    return state


def turn_to(screen: Screen) -> None:
    """Turn every screen that follows to the code, the round or the page; for the teacher."""
    mine = seat()
    if mine is not None:
        with suppress(EngineError):  # the room was closed; the next look says so
            rooms().turn_to(mine.code, mine.key, screen)
        tell_students()


def picture(state: RoomState) -> tuple[object, ...]:
    """Return what decides which page stands on this screen: when it changes, the script runs."""
    if not covers(state) or state.screen != "round" or state.round is None:
        return (covers(state), state.screen if covers(state) else "")
    now = state.round
    return (True, now.number, now.revealed, now.hidden, now.score)


def explore_alone() -> None:
    """Note that this student no longer follows."""
    _follow(False)


def come_back() -> None:
    """Let this student follow again, beginning with what the teacher shows now."""
    st.session_state.pop(LEFT, None)
    _follow(True)


def _follow(follows: bool) -> None:
    mine = seat()
    if mine is not None:
        st.session_state[FOLLOW] = follows
        st.session_state.pop(APPLIED, None)
        with suppress(EngineError):  # the room was closed; the next look says so
            rooms().follow(mine.code, mine.key, follows)


def destination(state: RoomState, stage: Stage) -> Go | None:
    """Return where this student's tab is to go; None if it is there, or does not follow."""
    if not follows() or covers(state) or state.view is None:
        return None
    if st.session_state.get(APPLIED) == state.view_version:
        return None
    if APPLIED in st.session_state and moved(stage):
        explore_alone()
        return None
    link = [
        *state.view.link,
        (keys.ROOM, state.code),
        (keys.FOLLOWED, str(state.view_version)),
    ]
    address = page_path(st.context.url or "", state.view.stage, link)
    return Go(address, f"{state.code} {state.view_version}")


def publish(stage: Stage, request: Request) -> None:
    """Take the teacher's view over into the room, and tell the students if it is a new one."""
    mine = seat()
    if mine is None or not leads():
        return
    shared = set(keys.linked())
    link = tuple(sorted(pair for pair in st.query_params.to_dict().items() if pair[0] in shared))
    asked, ids = last(WRITTEN)
    source, prompt_ids = asked if asked is not None else ("", ())
    view = View(stage.key, link, request.prompt, source, prompt_ids, ids or ())
    try:
        if rooms().show(mine.code, mine.key, view):
            tell_students()
    except NoRoomError:
        stand_up("The room is closed.")


def sweep(state: RoomState) -> None:
    """Let the room know whose tab was closed; for the teacher's session, now and then."""
    mine = seat()
    gone = closed(rooms().seats(state.code))
    if gone and mine is not None:
        rooms().away(mine.code, mine.key, gone)


def end(stage: Stage, request: Request) -> None:
    """At the end of a run: publish the teacher's view, or see whether a student has moved away."""
    state = look()
    if state is None or covers(state):
        return
    if state.role == "teacher":
        publish(stage, request)
    elif st.session_state.pop(GOING, None):
        st.session_state[LEFT] = (stage.key, _values())
    elif follows() and moved(stage):
        st.rerun()  # `begin` finds the same, before the bar is drawn


def _went_on(stage: Stage) -> bool:
    """Return whether this run shows another page than the last one."""
    return str(st.session_state.get(keys.SHOWN_STAGE, stage.key)) != stage.key


def moved(stage: Stage) -> bool:
    """Return whether the page looks different from what it was when the student arrived there."""
    there = st.session_state.get(LEFT)
    if there is None or st.session_state.get(GOING):
        return False
    key, values = there
    now = _values()
    return key != stage.key or any(now.get(name, value) != value for name, value in values.items())


def _values() -> Mapping[str, Any]:
    state = st.session_state
    return {key: state[key] for key in keys.linked() if key in state}


def _arrive(stage: Stage, state: RoomState) -> None:
    """Begin the page that the teacher shows, as a link to it would."""
    view, version = state.view, st.query_params[keys.FOLLOWED]
    if view is not None and version == str(state.view_version):
        # Streamlit takes what a widget of the page before was bound to out of the address.
        lost = {name: value for name, value in view.link if name not in st.query_params}
        if lost and st.session_state.get(GOING) != version:
            st.session_state[GOING] = version
            st.query_params.update(lost)
            st.rerun()
        st.session_state[APPLIED] = state.view_version
        forget(WRITTEN)
        if view.written:
            keep(WRITTEN, (view.source, view.ids), view.written)
    del st.query_params[keys.FOLLOWED]
    st.session_state[GOING] = version
    st.session_state[keys.SHOWN_STAGE] = stage.key
    job.drop()
    trying.close_guess()
    check.read_anew()
    if view is not None and keys.PROMPT not in st.query_params:
        st.session_state[keys.PROMPT] = view.prompt
