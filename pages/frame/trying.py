"""“Try this” and “Guess first”: a page's tasks, counted over all pages, and its one question.

All of it is in the session alone: which tasks were done, whether the question is open, and whether
it was put away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from components.kit.guess import Guess, guess_card
from components.kit.tasks import Task
from components.kit.text import counted
from components.link import keys
from components.shell.stages import STAGES, Stage

DONE = "tasks_done"
"""For each stage the numbers of the tasks that were done once."""
OPEN, SEEN = "guess_open", "guesses_seen"
"""Which stage's question is open; the stages whose question was answered or put away."""

Ask = Callable[[], Guess | None]


def guess_button(stage: Stage, shown: bool) -> None:
    """Draw the button that opens the page's question, until the question was open once.

    Args:
        stage: whose page this is.
        shown: whether the view is the one with the pictures.
    """
    if shown and stage.key not in st.session_state.get(SEEN, frozenset()):
        st.button(
            "Guess first",
            key="guess_first",
            type="tertiary",
            icon=":material/psychology_alt:",
            on_click=_open,
            args=(stage.key,),
            help="One question about this prompt. The picture waits until you have guessed.",
        )


def _open(stage: str) -> None:
    st.session_state[OPEN] = stage
    st.session_state[SEEN] = st.session_state.get(SEEN, frozenset()) | {stage}


def close_guess() -> None:
    """Put the open question away; for callbacks."""
    st.session_state.pop(OPEN, None)


def guess_waits(stage: Stage, ask: Ask, beside: Callable[[Guess], None]) -> bool:
    """Draw the page's question if it is open, and say whether the picture has to wait for it.

    Args:
        stage: whose page this is.
        ask: returns the question.
        beside: draws what else can be done with the question.
    """
    if st.session_state.get(OPEN) != stage.key:
        return False
    guess = ask()
    if guess is None:
        close_guess()
        st.caption("There is nothing to guess about this prompt: it is too short.")
        return False
    guess_card(guess, stage.key, on_close=close_guess)
    beside(guess)
    return True


def try_this(stage: Stage, tasks: Sequence[Task], ask: Ask) -> None:
    """Draw the page's tasks, how many of all are done, and its question."""
    before = st.session_state.get(DONE, {})
    here = frozenset(before.get(stage.key, ())) | {i for i, task in enumerate(tasks) if task.done}
    st.session_state[DONE] = done = {**before, stage.key: here}
    st.markdown(progress(done, stage))
    for number, task in enumerate(tasks):
        _show_task(task, number, once=number in here)
    guess = ask()
    if guess is not None:
        guess_card(guess, stage.key)


def progress(done: Mapping[str, frozenset[int]], stage: Stage) -> str:
    """Say how many tasks of this page and of all pages are done, as Markdown."""
    total = sum(entry.tasks for entry in STAGES)
    all_done = sum(len(numbers) for numbers in done.values())
    here = len(done.get(stage.key, ()))
    return (
        f"**{all_done} of {counted(total, 'task')} done** over all pages; {here} of {stage.tasks} "
        "here. Counted while this window is open."
    )


def _show_task(task: Task, number: int, *, once: bool) -> None:
    icon = ":material/check_circle:" if once else ":material/radio_button_unchecked:"
    said = "Done. " if task.done else "Done before. " if once else "Not yet. "
    with st.container(border=True):
        st.markdown(f"{icon} {task.text}")
        st.caption(said + task.now)
        with st.container(horizontal=True, vertical_alignment="center", key=f"task_row_{number}"):
            st.button(
                "Go there",
                key=f"task_{number}",
                icon=":material/arrow_forward:",
                on_click=_go,
                args=(dict(task.place),),
            )
            with st.popover("Hint", key=f"hint_{number}"):
                st.markdown(task.hint)


def _go(place: Mapping[str, str]) -> None:
    """Open the view in which a task is done."""
    for key, value in {keys.VIEW: "Visual", **place}.items():
        st.session_state[key] = value
