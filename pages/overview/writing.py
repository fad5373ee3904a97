"""What the model has written after the prompt on the overview page, kept for this session."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.frame.kept import forget, keep, kept
from pages.frame.live import PROMPT_CAP, WRITTEN, Live, written

if TYPE_CHECKING:
    from engine.lm_head.standing import Standing

JOB = "writing"
"""The job of writing several tokens."""
GUESS = "guess"
"""The field in which a guess is typed; of the session alone."""
DRAWN = "last_drawn"


@dataclass(frozen=True)
class Drawn:
    """The token that was appended last, and the guess before it, in the model's own list."""

    token: Standing
    guess: Standing | None
    typed: str
    """The guess as it was typed, without the blanks around it."""


def append(live: Live, token_id: int) -> None:
    """Keep one more token, and note where it and the guess stood."""
    from engine.lm_head.standing import LONGEST_GUESS, guess_standing, standing

    logits = live.trace(written(live)).logits
    typed = str(st.session_state.get(GUESS) or "")[:LONGEST_GUESS]
    tokenizer = live.model.tokenizer
    drawn = Drawn(
        token=standing(tokenizer, logits, token_id),
        guess=guess_standing(tokenizer, logits, typed),
        typed=typed.strip(),
    )
    _keep(live, token_id)
    keep(DRAWN, _base(live), drawn)


def last_drawn(live: Live) -> Drawn | None:
    """Return what the last press of “Next token” drew; None if anything else came after it."""
    drawn: Drawn | None = kept(DRAWN, _base(live))
    return drawn


def start_over() -> None:
    """Forget what was written."""
    forget(WRITTEN)
    forget(DRAWN)


def room(live: Live) -> int:
    """Return how many more tokens the traced pages take."""
    return PROMPT_CAP - len(live.ids) - len(written(live))


def ended(live: Live) -> bool:
    """Say whether the last written token is one that ends an answer."""
    ids = written(live)
    return bool(ids) and ids[-1] in live.model.stop_ids


def next_number(live: Live) -> float:
    """Return the random number in [0, 1) that draws the next token."""
    from engine.generation.random_numbers import uniforms

    return uniforms(live.seed, len(written(live)) + 1)[-1]


def write(live: Live, count: int) -> Generator[int, None, None]:
    """Write up to `count` tokens and keep each one as it comes; yield their ids."""
    from engine.generation.loop import generate

    forget(DRAWN)
    steps = generate(
        live.model,
        live.ids,
        live.settings,
        max_new_tokens=count,
        seed=live.seed,
        written=written(live),
    )
    with contextlib.closing(steps):
        for step in steps:
            _keep(live, step.id)
            yield step.id


def _keep(live: Live, token_id: int) -> None:
    keep(WRITTEN, _base(live), (*written(live), token_id))


def _base(live: Live) -> tuple[str, tuple[int, ...]]:
    return live.model.source, live.ids
