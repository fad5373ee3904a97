"""The check at the end: the ten beliefs as true or false in other words, and what has changed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.kit.text import html, markdown
from components.lesson.steps import STEPS, Step

TRUE, FALSE = "True", "False"


def forget() -> None:
    """Forget what was said of the statements; for callbacks."""
    for number in range(len(STEPS)):
        st.session_state.pop(_key(number), None)


def _key(number: int) -> str:
    return f"lesson_check_{number}"


def statements(said: Sequence[bool | None]) -> tuple[bool | None, ...]:
    """Draw the ten statements, each with true and false; none is chosen at first.

    Args:
        said: what was chosen before, per statement.

    Returns:
        What is chosen now.
    """
    st.html(
        '<h1 style="font-size: 1.3rem; line-height: 1.35; font-weight: 600; margin: 0; '
        'padding: 0">True or false? The ten beliefs once more, in other words.</h1>'
    )
    found: list[bool | None] = []
    for number, step in enumerate(STEPS):
        key = _key(number)
        if (before := said[number]) is not None:
            st.session_state.setdefault(key, TRUE if before else FALSE)
        words, answer = st.columns([4, 1], vertical_alignment="center")
        words.markdown(f"{number + 1}. {markdown(step.statement)}")
        chosen = answer.segmented_control(
            f"Statement {number + 1}", (TRUE, FALSE), key=key, label_visibility="collapsed"
        )
        found.append(None if chosen is None else chosen == TRUE)
    return tuple(found)


def believed_at_first(step: Step, guess: int | None) -> bool | None:
    """Return whether a guess holds the step's belief; None without a guess."""
    return None if guess is None else step.options[guess].belief


def believed_at_last(step: Step, said: bool | None) -> bool | None:
    """Return whether what was said of the statement holds the belief; None if nothing was said."""
    return None if said is None else said != step.statement_is_true


def summary(guesses: Sequence[int | None], said: Sequence[bool | None]) -> str:
    """Say on how many beliefs somebody changed their mind, as plain text."""
    pairs = [
        (believed_at_first(step, guess), believed_at_last(step, now))
        for step, guess, now in zip(STEPS, guesses, said, strict=True)
    ]
    both = [pair for pair in pairs if None not in pair]
    if not both:
        return "Guess first and answer here as well; then this says on what you changed your mind."
    changed = sum(before != now for before, now in both)
    right = sum(now is False for _, now in pairs)
    answered = sum(now is not None for _, now in pairs)
    start = (
        "You changed your mind on none" if not changed else f"You changed your mind on {changed}"
    )
    return f"{start} of {len(both)}. {right} of your {answered} answers here are right."


def result(guesses: Sequence[int | None], said: Sequence[bool | None]) -> None:
    """Draw what was believed at first and at last, belief by belief."""
    title = html(summary(guesses, said))
    rows = "".join(
        _row(step, guess, now) for step, guess, now in zip(STEPS, guesses, said, strict=True)
    )
    st.html(
        '<h1 style="font-size: 1.3rem; line-height: 1.35; font-weight: 600; margin: 0; '
        f'padding: 0">{title}</h1>'
    )
    st.html(f'<ol style="max-width: 52rem; line-height: 1.4">{rows}</ol>')
    st.caption("Nothing of this is kept: it stands in this window and in its address alone.")


def _row(step: Step, guess: int | None, said: bool | None) -> str:
    first, last = believed_at_first(step, guess), believed_at_last(step, said)
    now = _word(last)
    if None not in (first, last) and first != last:
        now = f"<b>{now}</b>"
    return (
        f'<li style="margin: 0 0 0.5rem"><b>“{html(step.belief)}.”</b> You thought so at first: '
        f"{_word(first)}; now: {now}.<br>{html(step.statement)} "
        f"<b>{TRUE if step.statement_is_true else FALSE}.</b></li>"
    )


def _word(value: bool | None) -> str:
    return "–" if value is None else "yes" if value else "no"
