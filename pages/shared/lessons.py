"""Training sessions of a page: one at a time in the process, and their results in the session."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from engine.training_slot import TrainingSlot
from pages.shared.loading import loaded_model

if TYPE_CHECKING:
    from engine.training import TokenLosses

RESULTS = "lessons"


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
    from engine.training import token_losses

    model = loaded_model(source)
    if model is None:
        raise RuntimeError("The model must be loaded before losses are computed.")
    return token_losses(model, ids)


def settings(name: str, *, steps: int, most: int) -> tuple[int, float]:
    """Draw the sliders of a lesson; return the number of steps and the learning rate."""
    rates = [1e-5, 3e-5, 1e-4, 3e-4, 1e-3]
    with st.container(horizontal=True):
        count = st.slider("Steps", 1, most, steps, key=f"{name}_steps", persist_state="session")
        rate = st.select_slider(
            "Learning rate",
            rates,
            value=3e-5,
            format_func=lambda value: f"{value:.0e}",
            key=f"{name}_rate",
            persist_state="session",
        )
    return count, float(rate)


def unique(ids: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the first different ids, in order."""
    return tuple(dict.fromkeys(int(token_id) for token_id in ids))[:most]
