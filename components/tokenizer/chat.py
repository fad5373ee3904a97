"""Tokenizer page: what the model really receives, and how control-token text can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import counted, markdown, visible
from components.kit.token_strip import token_strip, token_views

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Token


def split_at(
    tokens: Sequence[Token], span: tuple[int, int]
) -> tuple[list[Token], list[Token], list[Token]]:
    """Return the tokens before, inside and after a span of characters.

    A token that reaches over an edge counts as inside.
    """
    start, end = span
    before = [token for token in tokens if token.end <= start]
    after = [token for token in tokens if token.start >= end and token not in before]
    inside = list(tokens[len(before) : len(tokens) - len(after)])
    return before, inside, after


def show_turn(tokens: Sequence[Token], span: tuple[int, int]) -> None:
    """Draw the whole turn in three parts: before the user's words, the words, after them.

    Args:
        tokens: of the rendered template.
        span: where the user's words stand in it.
    """
    before, own, after = split_at(tokens, span)
    st.markdown(
        f"As a chat turn the model receives **{counted(len(tokens), 'token')}; {len(own)} of "
        f"them are {'the one' if len(own) == 1 else 'those'} that you typed**. The chat "
        "template adds the rest: control tokens (striped) that mark whose turn it is, and a system "
        "turn if the model was trained with one."
    )
    parts = (
        ("before", before, "Before your words: nobody typed this"),
        ("own", own, "Your words"),
        ("after", after, "After your words: it opens the model's turn"),
    )
    for name, part, label in parts:
        if part:
            token_strip(token_views(part), key=f"turn_{name}", label=label)


def show_readings(
    message: str, plain: Sequence[Token], parsed: Sequence[Token], *, forged: bool
) -> None:
    """Draw two readings of one message with control-token text in it, side by side.

    Args:
        message: what the user wrote.
        plain: its tokens when all of it is text.
        parsed: its tokens when control-token text becomes control tokens.
        forged: whether the message is this page's demonstration and not the user's own.
    """
    if forged:
        st.markdown("A message made for this demonstration, as any user could type it:")
    else:
        st.markdown("Your prompt holds the name of a control token, as any user could type it:")
    st.text(visible(message))
    as_text, as_control = st.columns(2)
    with as_text:
        st.markdown("**Read as text** — what this app does")
        token_strip(token_views(plain), key="reading_plain", label="As text")
        st.caption(f"{_control(plain)} among the words of the user: nobody's turn begins here.")
    with as_control:
        st.markdown(
            "**Read as control tokens** — what a template that is rendered to text first leads to"
        )
        token_strip(token_views(parsed), key="reading_parsed", label="As control tokens")
        st.caption(
            f"{_control(parsed)} among the words of the user. To the model they are the same ids "
            "as the operator's own."
        )
    if forged:
        st.warning(
            "Forged turn: rendered to text first and cut into tokens afterwards, this message "
            "closes the user's turn and opens a system turn that the operator never wrote. The "
            "model can't tell the difference. The way out is to cut the user's words apart from "
            "the template.",
            icon=":material/gpp_maybe:",
        )


def _control(tokens: Sequence[Token]) -> str:
    names = [token.piece for token in tokens if token.special]
    if not names:
        return "No control token"
    listed = ", ".join(markdown(visible(name)) for name in dict.fromkeys(names))
    return f"{counted(len(names), 'control token')} ({listed})"
