"""Training sessions of a page: one at a time in the process, and their results in the session."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from components.kit.text import markdown
from components.link import keys, widgets
from engine.basics.errors import EngineError
from engine.model.training_slot import TrainingSlot
from pages.frame.loading import loaded_model

if TYPE_CHECKING:
    from engine.training.sentence import TokenLosses

RESULTS = "lessons"
REFUSAL = "lesson_refused"
State = TypeVar("State")


@st.cache_resource(show_spinner=False)
def slot() -> TrainingSlot:
    """Return the one seat of this process."""
    return TrainingSlot()


@contextlib.contextmanager
def turn() -> Iterator[None]:
    """Wait in the queue, saying so, and hold the seat; Stop or a closed tab leaves it."""
    seat, note = slot(), st.empty()
    with seat.ticket() as ticket:
        while before := seat.ahead(ticket):
            others = "session trains" if before == 1 else "sessions train"
            note.info(f"{before} other {others} on this computer. Yours starts after that.")
            time.sleep(0.3)
        note.empty()
        yield


def follow(run: Callable[[], Generator[State, None, None]], show: Callable[[State], None]) -> bool:
    """Train when it is this session's turn, and show each state.

    Args:
        run: starts the training, once the seat is free.
        show: is given each state; Stop interrupts the script between two of them.

    Returns:
        Whether the training came to its end. What the engine refuses, `say_refusal` says.
    """
    try:
        with turn(), contextlib.closing(run()) as states:
            for state in states:
                show(state)
    except EngineError as error:
        st.session_state[REFUSAL] = str(error)
        return False
    return True


def say_refusal() -> None:
    """Say once why the last training could not run.

    A page is drawn anew after each run, so what the run itself writes would be gone at once.
    """
    if REFUSAL in st.session_state:
        st.error(markdown(st.session_state.pop(REFUSAL)))


def kept(name: str, key: Any) -> Any | None:
    """Return the result of this very request, or None."""
    known, result = st.session_state.get(RESULTS, {}).get(name, (None, None))
    return result if known == key else None


def keep(name: str, key: Any, result: Any) -> None:
    """Keep one result a kind."""
    st.session_state.setdefault(RESULTS, {})[name] = (key, result)


def forget(name: str) -> None:
    """Throw a result away: what was learned is gone."""
    st.session_state.get(RESULTS, {}).pop(name, None)


@st.cache_resource(max_entries=32, show_spinner=False)
def losses(source: str, ids: tuple[int, ...]) -> TokenLosses:
    """Return the loss of each token of a text."""
    from engine.training.sentence import token_losses

    model = loaded_model(source)
    if model is None:
        raise RuntimeError("The model must be loaded before losses are computed.")
    return token_losses(model, ids)


def settings(steps_key: str, rate_key: str) -> tuple[int, float]:
    """Draw the sliders of a lesson; return the number of steps and the learning rate."""
    with st.container(horizontal=True):
        count = widgets.slider(keys.limit(steps_key))
        rate = widgets.choice(
            "Learning rate",
            (1e-5, 3e-5, 1e-4, 3e-4, 1e-3),
            default=3e-5,
            key=rate_key,
            draw=st.select_slider,
            spell=lambda value: f"{value:.0e}",
        )
    return int(count), rate


def unique(ids: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the first different ids, in order."""
    return tuple(dict.fromkeys(int(token_id) for token_id in ids))[:most]
