"""What the lessons of the training page share: their turn in the queue, losses, and settings."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.link import keys, widgets
from components.training import depth
from engine.model.fair_lock import FairLock
from pages.frame.loading import model_in_use
from pages.frame.shared import shared

if TYPE_CHECKING:
    from engine.training.sentence import TokenLosses


@st.cache_resource(show_spinner=False)
def slot() -> FairLock:
    """Return the one seat of this process."""
    return FairLock()


@contextlib.contextmanager
def turn() -> Iterator[None]:
    """Wait in the queue, saying so, and hold the seat; Stop or a closed tab leaves it."""
    seat, note = slot(), st.empty()
    with seat.place() as place:
        while before := seat.ahead(place):
            others = "session trains" if before == 1 else "sessions train"
            note.info(f"{before} other {others} on this computer. Yours starts after that.")
            time.sleep(0.3)
        note.empty()
        yield


@shared
def losses(source: str, ids: tuple[int, ...]) -> TokenLosses:
    """Return the loss of each token of a text."""
    from engine.training.sentence import token_losses

    return token_losses(model_in_use(source), ids)


def settings(steps_key: str, rate_key: str) -> tuple[int, float]:
    """Draw the sliders of a lesson; return the number of steps and the learning rate."""
    count = widgets.slider(keys.limit(steps_key), width=130)
    rate = widgets.choice(
        "Learning rate",
        (1e-5, 3e-5, 1e-4, 3e-4, 1e-3),
        default=depth.RATE,
        key=rate_key,
        draw=st.select_slider,
        spell=lambda value: f"{value:.0e}",
        help="How far a step moves each weight at most: 3e-05 is 0.00003.",
        width=150,
    )
    return int(count), rate


def unique(ids: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the first different ids, in order."""
    return tuple(dict.fromkeys(int(token_id) for token_id in ids))[:most]
