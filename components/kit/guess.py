"""A question to guess before looking: its options, which one is right, and what this run gave.

Each page has one about the prompt that is on it. `Guess` is the question in plain values;
`guess_card` draws it and returns what was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from zlib import crc32

import streamlit as st

from components.kit.text import markdown

FEWEST, MOST = 3, 4
"""How many options a question has."""


@dataclass(frozen=True)
class Guess:
    """One question with options. All texts are plain and shown literally."""

    question: str
    options: tuple[str, ...]
    right: int
    """Which option is right, by what the running model gave."""
    reveal: str
    """What came out, with the run's value, and why."""

    def __post_init__(self) -> None:
        """Refuse what can't be asked.

        Raises:
            ValueError: Too few or too many options, two that are equal, or none that is right.
        """
        if not FEWEST <= len(self.options) <= MOST or len(set(self.options)) < len(self.options):
            raise ValueError(f"{self.options} are not {FEWEST} to {MOST} different options.")
        if not 0 <= self.right < len(self.options):
            raise ValueError(f"Option {self.right} of {len(self.options)} does not exist.")


def numbers(
    question: str, right: int, others: Iterable[int], reveal: str, *, least: int = 0
) -> Guess:
    """Ask for a whole number; the options climb, so that their order gives nothing away.

    Args:
        question: what is asked.
        right: the number that came out.
        others: further numbers, the most tempting first; further ones are made up if they are few.
        reveal: what came out.
        least: the smallest number that makes sense.
    """
    options = [right]
    made_up = (right + step for step in (1, 2, 3))
    for number in (*others, *made_up):
        if number not in options and number >= least and len(options) < MOST:
            options.append(number)
    options.sort()
    spelled = tuple(f"{number:,}" for number in options)
    return Guess(question, spelled, options.index(right), reveal)


def named(question: str, right: str, others: Iterable[str], reveal: str) -> Guess | None:
    """Ask for a name; the options stand in alphabetical order.

    Args:
        question: what is asked.
        right: the name that came out.
        others: further names, the most tempting first.
        reveal: what came out.

    Returns:
        The question; None if there are too few different names.
    """
    options = list(dict.fromkeys((right, *others)))[:MOST]
    if len(options) < FEWEST:
        return None
    options.sort(key=str.casefold)
    return Guess(question, tuple(options), options.index(right), reveal)


def ranged(question: str, value: float, ranges: Iterable[tuple[float, str]], reveal: str) -> Guess:
    """Ask in which range a value lies.

    Args:
        question: what is asked.
        value: what came out.
        ranges: the end of each range, which belongs to the next one, and its name; the last one
            has no end.
        reveal: what came out.
    """
    ends, names = zip(*ranges, strict=True)
    right = next((i for i, end in enumerate(ends[:-1]) if value < end), len(names) - 1)
    return Guess(question, tuple(names), right, reveal)


def guess_card(guess: Guess, key: str, *, on_close: Callable[[], None] | None = None) -> int | None:
    """Draw the question, and once an option is chosen what came out.

    Args:
        guess: the question.
        key: of the page; another question of the same page begins unanswered.
        on_close: what the button that leads to the picture does; no button without it.

    Returns:
        The option that was chosen, or None.
    """
    mark = crc32("\n".join((guess.question, *guess.options)).encode())
    with st.container(border=True, key=f"guess_card_{key}"):
        chosen: int | None = st.radio(
            f"**Guess first.** {markdown(guess.question)}",
            range(len(guess.options)),
            index=None,
            format_func=lambda number: markdown(guess.options[number]),
            key=f"guess_{key}_{mark}",
            persist_state="session",
        )
        if chosen is not None:
            verdict = "**You guessed right.**" if chosen == guess.right else "**Not so.**"
            right = markdown(guess.options[guess.right])
            told = "" if chosen == guess.right else f" It is: {right}."
            st.markdown(f"{verdict}{told} {markdown(guess.reveal)}")
        if on_close is not None:
            st.button(
                "Show the picture" if chosen is not None else "Show the picture without a guess",
                key="close_guess",
                on_click=on_close,
                icon=":material/arrow_forward:",
            )
    return chosen
