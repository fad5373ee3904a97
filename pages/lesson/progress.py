"""Where somebody is in the ten guesses and what was guessed: in the session and in the link alone.

The link carries the number of the guess (or `check`, `end`), the guesses so far (`2-1--0`: the
option taken, counted from 1; 0 for shown without a guess, nothing where it is open) and what was
said at the end (`tf-t`: true, false, nothing).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.lesson.steps import STEPS, Step
from components.link import keys, widgets

CHECK, END = "check", "end"
PLACES = ("", *(str(number) for number in range(1, len(STEPS) + 1)), CHECK, END)
"""Where one can be; empty outside of the lesson."""
SHOWN = -1
"""In place of a guess: the answer was shown without one."""


@dataclass(frozen=True)
class Progress:
    """Where somebody is, and what was guessed and said."""

    place: str
    guesses: tuple[int | None, ...]
    """Per step the option, from 0 on; `SHOWN`, or None while the question is open."""
    said: tuple[bool | None, ...]
    """Per step, whether its statement was called true."""

    @property
    def step(self) -> Step | None:
        """The step at hand; None at the end and outside of the lesson."""
        return STEPS[int(self.place) - 1] if self.place.isdecimal() else None

    @property
    def guess(self) -> int | None:
        """What was guessed at this step."""
        return self.guesses[int(self.place) - 1] if self.place.isdecimal() else None

    @property
    def page(self) -> str:
        """The stage on whose page one is."""
        return "overview" if self.step is None else self.step.page

    @property
    def chosen(self) -> tuple[int | None, ...]:
        """Per step the option that was really taken."""
        return tuple(None if guess == SHOWN else guess for guess in self.guesses)


def read() -> str:
    """Read the link or the session and keep both in step; return the place.

    Called once per run, before any widget is drawn.
    """
    place = widgets.kept_text(keys.TEN_GUESSES, "Guess", "", names=PLACES)

    def spell(text: str) -> str | None:
        return text if place else None

    for key, label in ((keys.GUESSED, "Guesses"), (keys.BELIEVED, "True or false")):
        widgets.kept_text(key, label, "", spell=spell)
    return place


def now() -> Progress:
    """Return where somebody is."""
    state = st.session_state
    return Progress(
        str(state.get(keys.TEN_GUESSES, "")),
        guesses_of(str(state.get(keys.GUESSED, ""))),
        said_of(str(state.get(keys.BELIEVED, ""))),
    )


def guesses_of(text: str) -> tuple[int | None, ...]:
    """Read guesses as the link spells them; what can't be one is open."""
    parts = [*text.split("-"), *([""] * len(STEPS))]
    found: list[int | None] = []
    for step, part in zip(STEPS, parts, strict=False):
        known = part.isascii() and part.isdecimal() and int(part[:4]) <= len(step.options)
        found.append(int(part) - 1 if known else None)
    return tuple(found)


def said_of(text: str) -> tuple[bool | None, ...]:
    """Read what was said at the end, as the link spells it."""
    meaning = {"t": True, "f": False}
    return tuple(meaning.get(letter) for letter in text[: len(STEPS)].ljust(len(STEPS), "-"))


def guess(number: int, option: int) -> None:
    """Keep a guess.

    Args:
        number: of the step, from 1 on.
        option: from 0 on, or `SHOWN`.
    """
    found = [*now().guesses]
    found[number - 1] = option
    spelled = ["" if entry is None else str(entry + 1) for entry in found]
    st.session_state[keys.GUESSED] = "-".join(spelled).rstrip("-")


def say(said: Sequence[bool | None]) -> None:
    """Keep what is said of the statements now, in the session and in the link."""
    letters = ["-" if entry is None else "t" if entry else "f" for entry in said]
    text = st.session_state[keys.BELIEVED] = "".join(letters).rstrip("-")
    if text:
        widgets.write(keys.BELIEVED, text)
    else:
        st.query_params.pop(keys.BELIEVED, None)
