"""Tokenizer page: the totals of a text, and the card of the token that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import counted, markdown, visible
from components.kit.token_strip import joined

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Token


@dataclass(frozen=True)
class Totals:
    """How long one text is, counted four ways."""

    characters: int
    bytes: int
    """In UTF-8."""
    tokens: int
    distinct: int
    """How many different tokens."""

    @property
    def characters_a_token(self) -> float:
        """Characters per token, on average; 0 without tokens."""
        return self.characters / self.tokens if self.tokens else 0.0


def totals(text: str, tokens: Sequence[Token]) -> Totals:
    """Count a text; lone surrogates, which UTF-8 can't hold, count as characters only."""
    return Totals(
        characters=len(text),
        bytes=len(text.encode("utf-8", "ignore")),
        tokens=len(tokens),
        distinct=len({token.id for token in tokens}),
    )


def headline(found: Totals) -> str:
    """Say what became of the text: “27 characters became 6 tokens”."""
    return f"{counted(found.characters, 'character')} became {counted(found.tokens, 'token')}"


def show_totals(found: Totals) -> None:
    """Write the counts that the headline does not have."""
    st.caption(
        f"{counted(found.bytes, 'byte')} in UTF-8, {counted(found.distinct, 'different token')}, "
        f"{found.characters_a_token:.2f} characters per token."
    )


def sharing(tokens: Sequence[Token], index: int) -> tuple[int, int]:
    """Return the range of tokens that make a character together with the one at `index`.

    Returns:
        (first, one past the last); only `index` itself where it shares no character.
    """
    first, last = index, index + 1
    while first > 0 and tokens[first - 1].end > tokens[first].start:
        first -= 1
    while last < len(tokens) and tokens[last].start < tokens[last - 1].end:
        last += 1
    return first, last


def groups(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the ranges of tokens that make a character together, each once."""
    ranges, index = [], 0
    while index < len(tokens):
        ranges.append(sharing(tokens, index))
        index = ranges[-1][1]
    return ranges


def coverage(tokens: Sequence[Token], index: int) -> str:
    """Say how much text the token covers: several characters, or only a part of one."""
    token = tokens[index]
    first, last = sharing(tokens, index)
    if last - first > 1:
        text = visible(b"".join(part.data for part in tokens[first:last]))
        parts = " | ".join(part.data.hex(" ").upper() for part in tokens[first:last])
        return (
            f"A part of {markdown(text)}, which needs {last - first} tokens "
            f"({parts.replace('|', chr(92) + '|')}); this is number {index - first + 1} of them."
        )
    count = token.end - token.start
    if count == 0:
        return "It covers no character of the text."
    return f"One token covers {counted(count, 'character')}."


def show_token(tokens: Sequence[Token], index: int) -> None:
    """Write what one token is: id, vocabulary form, bytes, span, coverage."""
    token = tokens[index]
    times = sum(other.id == token.id for other in tokens)
    rows = [
        f"id **{token.id:,}**",
        f"in the vocabulary **{markdown(visible(token.piece))}**",
        f"bytes {token.data.hex(' ').upper() or 'none'}",
        _span(token),
    ]
    st.markdown("  \n".join(rows))
    notes = [coverage(tokens, index)]
    if note := _cluster_note(tokens, index):
        notes.append(note)
    if token.special:
        notes.append("A control token: it has an id of its own and stands for no text.")
    if times > 1:
        notes.append(f"This token comes {times:,} times in the text: same number, same colour.")
    st.markdown(" ".join(notes))


def _span(token: Token) -> str:
    """Say which characters of the text the token covers, counted from 1."""
    first, last = token.start + 1, token.end
    if last < first:
        return "no character of the text"
    return f"character {first:,}" if first == last else f"characters {first:,} to {last:,}"


def _cluster_note(tokens: Sequence[Token], index: int) -> str:
    """Say how many tokens make what readers take for one character, where that is more to say."""
    first = max(0, index - 64)  # no need to read a whole book for one character
    near = [token.data for token in tokens[first : index + 64]]
    spans = ((start + first, end + first) for start, end in joined(near))
    start, end = next(span for span in spans if span[0] <= index < span[1])
    if (start, end) == sharing(tokens, index):
        return ""
    together = visible(b"".join(token.data for token in tokens[start:end]))
    return (
        f"What readers take for one character, {markdown(together)}, takes {end - start} tokens "
        "here."
    )
