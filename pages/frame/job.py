"""Jobs: what takes longer than a click, such as writing, measuring or training.

The callback of a button only notes the job. The script run that follows takes the note out, works
step by step and draws after each step. Streamlit ends a script inside of a call that draws, as soon
as the person presses Stop, does anything else, goes to another page or closes the tab. So every job
ends within a step, `follow` closes the engine's generator (which takes its hooks off the model),
and since the note is out, the next script run does not go on with it. What a job keeps in the
session after each step stays.

In a page:

    if job.button("Measure", "measure"):
        with job.running("measure"):
            job.follow(step_costs(…), show)
    draw(kept(…))
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeVar

import streamlit as st

from components.kit.text import markdown
from engine.basics.errors import EngineError

State = TypeVar("State")

ASKED = "job_asked"
PROBLEM = "job_problem"


def ask(job: str, wanted: Any = True) -> None:
    """Note that a job is to be done by the script run that follows; for callbacks.

    Args:
        job: its name.
        wanted: what exactly, as `asked` returns it.
    """
    st.session_state[ASKED] = (job, wanted)


def asked(job: str) -> Any | None:
    """Take the note of this job out and return what is wanted; None if nothing is."""
    name, wanted = st.session_state.get(ASKED, (None, None))
    if name != job:
        return None
    drop()
    return wanted


def drop() -> None:
    """Throw a note away that nobody took out: its page was left before it was drawn."""
    st.session_state.pop(ASKED, None)


def start_button(
    label: str,
    job: str,
    *,
    running: bool,
    key: str | None = None,
    wanted: Any = True,
    icon: str = ":material/play_arrow:",
    primary: bool = False,
    disabled: bool = False,
) -> None:
    """Draw a button that starts a job.

    Args:
        label: what it says.
        job: the job's name.
        running: whether the job runs in this script run, so that it can't be started.
        key: the button's, if it is not the job's name.
        wanted: what exactly is to be done.
        icon: beside the label.
        primary: whether it is the page's main button.
        disabled: whether there is another reason not to start it.
    """
    st.button(
        label,
        key=key or job,
        icon=icon,
        type="primary" if primary else "secondary",
        disabled=running or disabled,
        on_click=ask,
        args=(job, wanted),
    )


def stop_button(job: str, on_stop: Callable[[], None] | None = None) -> None:
    """Draw Stop. A click ends this script run, and the job with it; then `on_stop` is called."""
    st.button("Stop", key=f"stop_{job}", icon=":material/stop_circle:", on_click=on_stop)


def button(label: str, job: str, **look: Any) -> Any | None:
    """Draw the button that starts a job, with Stop beside it while the job runs.

    Args:
        label: what the button says.
        job: the job's name.
        look: further arguments of `start_button`.

    Returns:
        What the job is to do in this script run; None if it does not run.
    """
    wanted = asked(job)
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        start_button(label, job, running=wanted is not None, **look)
        if wanted is not None:
            stop_button(job)
    say_problem(job)
    return wanted


def failed(job: str) -> bool:
    """Say whether the engine refused this job when it ran last, which nobody has been told yet."""
    return bool(st.session_state.get(PROBLEM, (None, ""))[0] == job)


def say_problem(job: str) -> None:
    """Say once what the engine refused when this job ran last."""
    name, sentence = st.session_state.get(PROBLEM, (None, ""))
    if name == job:
        del st.session_state[PROBLEM]
        st.error(markdown(sentence))


@contextlib.contextmanager
def running(job: str) -> Iterator[None]:
    """Do the work of a job inside; when it is over, draw the page anew, without Stop.

    What the engine refuses is said by `say_problem` in that next run.
    """
    try:
        yield
    except EngineError as error:
        st.session_state[PROBLEM] = (job, str(error))
    st.rerun()


def follow(steps: Iterator[State], show: Callable[[State], object]) -> None:
    """Take every step and show it; whatever ends the script also closes `steps`.

    Args:
        steps: the work, usually a generator of the engine.
        show: keeps and draws a state. It must draw: that is where Stop is noticed.
    """
    try:
        for state in steps:
            show(state)
    finally:
        if isinstance(steps, Generator):
            steps.close()
