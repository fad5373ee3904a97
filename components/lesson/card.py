"""One guess on the screen: the question with its options, and afterwards what was found and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import html, markdown

if TYPE_CHECKING:
    from components.lesson.reveals import Reveal
    from components.lesson.steps import Step

_PART = '<p style="margin: 0.2rem 0 0; line-height: 1.35; break-inside: avoid">'


def question(step: Step, choose: Callable[[int], None], show: Callable[[], None]) -> None:
    """Draw the question and a button for each option; none is chosen.

    Args:
        step: the guess.
        choose: takes the option that is pressed, from 0 on.
        show: called by who wants to see it without a guess.
    """
    with st.container(border=True, key="lesson_question", width=820):
        st.html(
            '<h1 style="font-size: 1.3rem; line-height: 1.35; font-weight: 600; margin: 0; '
            f'padding: 0">{html(step.question)}</h1>'
        )
        st.caption(
            "Ten things that many people think about language models. Guess first; then this page "
            "shows what a real one does."
        )
        for number, option in enumerate(step.options):
            st.button(
                markdown(option.text),
                key=f"lesson_option_{number}",
                on_click=choose,
                args=(number,),
                width="stretch",
            )
        st.button("Show me without a guess", key="lesson_show", on_click=show, type="tertiary")


def reveal(step: Step, chosen: int | None, found: Reveal) -> None:
    """Draw what was found, in place of the page's question and answer.

    Args:
        step: the guess.
        chosen: the option that was taken; None without a guess.
        found: the answer on the running model.
    """
    lines = (
        f"{_PART}{html(found.found)}</p>{_texts(found)}",
        f"{_PART}<b>Why:</b> {html(found.why)}</p>",
        f"{_PART}<b>Try to break it:</b> {html(step.try_it)}</p>",
    )
    st.html(
        '<h1 style="font-size: 1.2rem; line-height: 1.3; font-weight: 650; margin: 0; padding: 0">'
        f"{html(verdict(step, chosen, found.right))}</h1>"
        f'<div style="column-width: 24rem; column-gap: 2rem">{"".join(lines)}</div>'
    )


def verdict(step: Step, chosen: int | None, right: int | None) -> str:
    """Say what was guessed and what holds, as plain text."""
    said = "" if chosen is None else f"You said {_quoted(step, chosen)}. "
    if right is None:
        return f"{said}None of the answers fits what this model does."
    if chosen == right:
        return f"You were right: {_quoted(step, right)}."
    return f"{said}It is {_quoted(step, right)}."


def _quoted(step: Step, option: int) -> str:
    """Return an option in quotation marks; those inside of it become single ones."""
    text = step.options[option].text
    return f"“{text.replace('“', '‘').replace('”', '’')}”"


def _texts(found: Reveal) -> str:
    rows = "".join(
        f'<li style="margin: 0; break-inside: avoid"><span style="opacity: 0.75">{html(name)}:'
        f"</span> {html(text)}</li>"
        for name, text in found.texts
    )
    style = "margin: 0.2rem 0 0; padding-left: 1.2rem; line-height: 1.35"
    return f'<ul style="{style}">{rows}</ul>' if rows else ""
