"""The ten guesses in the frame: enter and leave, the bar, the question, the reveal, the end.

The frame asks `asks` whether a question is open on a page. While it is, the page does not run and
the strip shows no facts, so nothing gives the answer away.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import StreamlitAPIException

from components.kit.text import markdown
from components.lesson import card, check
from components.lesson.bar import Way, bar
from components.lesson.steps import STEPS, Step, number_of
from components.link import check as link
from components.link import keys
from components.link.changes import change
from components.shell import sidebar
from components.shell.example_prompts import DEFAULT_PROMPT
from components.shell.stages import Stage, stage
from engine.basics.errors import EngineError
from engine.classroom.records import Question
from engine.model.weights import DEFAULT
from pages.frame import class_rounds
from pages.frame.loading import allowed_sources, loaded_model, wait_for_model
from pages.lesson import findings, progress
from pages.lesson.progress import CHECK, END, SHOWN, Progress

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

ARRANGED = "lesson_arranged"
"""Of the session: the place whose page and settings were opened last."""
BEFORE = "lesson_before"
"""Of the session: prompt and settings from before the lesson."""
MOVED = "lesson_moved"
"""Of the session: whether a button led to another place, so that its page is to be opened."""
FORGOTTEN = (keys.LAYER, keys.HEAD, keys.TOKEN, keys.LM_HEAD_TOKEN)
"""What a step takes back to where it stands at first."""


def begin(shown: Stage) -> None:
    """Read where somebody is, and open that place's page and settings when it is reached.

    Called before any widget is drawn and after `st.navigation`, since it may change the page.
    """
    place = progress.read()
    arrived = st.session_state.get(ARRANGED) != place
    if arrived:
        st.session_state[ARRANGED] = place
        if place:
            _arrange(progress.now())
    if place and (arrived or st.session_state.pop(MOVED, False)):
        page = progress.now().page
        if page != shown.key:
            # A session's first run has read nothing of the link yet, so all of it goes along.
            first = keys.SHOWN_STAGE not in st.session_state
            carried = st.query_params.to_dict() if first else {}
            st.switch_page(stage(page).page, query_params=carried)


def _arrange(at: Progress) -> None:
    """Set what a link's step needs; what the link itself says counts once the guess is made."""
    for key, value in _values(at).items():
        if key in st.query_params:
            if at.guess is not None:
                continue
            link.unread(key)
            with suppress(StreamlitAPIException):  # the widget drew it before, and takes the value
                del st.query_params[key]
        _set(key, value)


def _values(at: Progress) -> dict[str, Any]:
    """Return all that a place sets, by key of the session; None: as at first."""
    if at.step is None:
        return {}
    default = (st.session_state.get(keys.MODEL) or allowed_sources()[0]) == DEFAULT
    return {
        keys.PROMPT: DEFAULT_PROMPT,
        keys.CHAT: False,
        keys.EDITS: "",
        **sidebar.usual_values(),
        **dict.fromkeys(FORGOTTEN),
        **at.step.values,
        **(at.step.for_default if default else {}),
    }


def _set(key: str, value: Any) -> None:
    if value is None:
        st.session_state.pop(key, None)
    else:
        st.session_state[key] = value


def go(place: str) -> None:
    """Go to a place; for callbacks."""
    st.session_state[keys.TEN_GUESSES] = place
    st.session_state[ARRANGED] = place
    st.session_state[MOVED] = True
    for key, value in _values(progress.now()).items():
        _set(key, value)


def _take(number: int, option: int) -> None:
    """Keep a guess and open the page as the step needs it; for callbacks."""
    progress.guess(number, option)
    go(str(number))


def enter() -> None:
    """Begin, or go on where the first open question is; for callbacks."""
    at = progress.now()
    kept = (keys.PROMPT, keys.CHAT, *sidebar.usual_values())
    st.session_state[BEFORE] = {
        key: st.session_state[key] for key in kept if key in st.session_state
    }
    still = (str(n) for n, guess in enumerate(at.guesses, 1) if guess is None)
    go(next(still, CHECK))


def leave() -> None:
    """End the lesson and bring prompt and settings back; for callbacks."""
    st.session_state[keys.TEN_GUESSES] = ""
    before = st.session_state.pop(BEFORE, None)
    if before:
        change("You left the ten guesses: your prompt and settings are back.", before)


def again() -> None:
    """Forget all guesses and begin anew; for callbacks."""
    for key in (keys.GUESSED, keys.BELIEVED):
        st.session_state[key] = ""
    check.forget()
    go("1")


def entry() -> None:
    """Draw the way into the lesson; nothing while it runs."""
    if not progress.now().place:
        st.button(
            "Ten guesses",
            key="lesson_enter",
            icon=":material/school:",
            help="New here? Ten questions, twenty minutes: you guess, and the model shows.",
            on_click=enter,
        )


def asks(shown: Stage) -> bool:
    """Tell whether a question is open on this page, or the check at the end stands there."""
    at = progress.now()
    return bool(at.place) and at.page == shown.key and at.guess is None


def told(shown: Stage, source: str) -> Callable[[], None] | None:
    """Return what stands in place of the page's question and answer; None if they stand there."""
    at = progress.now()
    if at.step is None or at.page != shown.key or at.guess is None:
        return None
    return partial(_reveal, at, source)


def _reveal(at: Progress, source: str) -> None:
    step = at.step
    if step is None or loaded_model(source) is None:
        return  # the page waits for the model and then draws all of it anew
    try:
        with st.spinner("The model is still at work on this guess …", show_time=True):
            found = findings.reveal(source, step.key)
    except EngineError as error:
        st.warning(markdown(f"This model can't do this step: {error}"))
        return
    card.reveal(step, None if at.guess == SHOWN else at.guess, found)


def show_bar(shown: Stage) -> DeltaGenerator | None:
    """Draw the bar while the lesson runs; return the place at its end where a reveal stands."""
    at = progress.now()
    if not at.place:
        return None
    last = len(STEPS)
    ways: dict[str, Way] = {}
    if at.step is None:
        ways["lesson_back"] = Way("Back", partial(go, CHECK if at.place == END else str(last)))
        where = "Ten guesses: check" if at.place == CHECK else "Ten guesses: end"
        if at.place == CHECK:
            ways["lesson_next"] = Way("Result", partial(go, END), primary=True)
        else:
            ways["lesson_again"] = Way("Start over", again)
    else:
        number = int(at.place)
        where = f"Guess {number} of {last}"
        if number > 1:
            ways["lesson_back"] = Way("Back", partial(go, str(number - 1)))
        if at.page != shown.key:
            ways["lesson_here"] = Way(f"To guess {number}", partial(go, at.place), primary=True)
        after = str(number + 1) if number < last else CHECK
        name = "Skip" if at.guess is None else "Next" if number < last else "Check"
        ways["lesson_next"] = Way(
            name, partial(go, after), primary=at.guess is not None and at.page == shown.key
        )
    end = bar(where, ways, leave, _link(at, shown))
    return end if at.guess is not None and at.page == shown.key else None


def _link(at: Progress, shown: Stage) -> str:
    """Return the address of a step with nothing guessed, or nothing where it is not known."""
    here = st.context.url
    if not here or at.step is None:
        return ""
    parts = urlsplit(here)
    root = parts.path.removesuffix("/").removesuffix(shown.url).removesuffix("/")
    page = stage(at.page).url
    return f"{parts.scheme}://{parts.netloc}{root}/{page}?{keys.TEN_GUESSES}={at.place}"


def ask(source: str) -> None:
    """Draw the open question, or the check, in place of the page."""
    at = progress.now()
    if at.place == CHECK:
        progress.say(check.statements(at.said))
        return
    if at.step is None:
        check.result(at.chosen, at.said)
        return
    number = number_of(at.step.key)
    card.question(at.step, partial(progress.guess, number), partial(progress.guess, number, SHOWN))
    first_time = loaded_model(source) is None
    wait_for_model(source)
    findings.finding(source, at.step.key)  # so that it is there when the guess is made
    class_rounds.offer(partial(_for_class, source, at.step))
    if first_time:
        st.rerun()  # without the place of the bar that told of the loading


def _for_class(source: str, step: Step) -> Question:
    """Return a step's question as a class is asked it."""
    found = findings.reveal(source, step.key)
    options = tuple(option.text for option in step.options)
    return Question(step.question, options=options, right=found.right, why=found.why)
