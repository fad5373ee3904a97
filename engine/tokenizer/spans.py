"""Tokens, and the span of characters in the text that each one comes from."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from engine.basics.results import Result


@dataclass(frozen=True)
class Token(Result):
    """One token of a text."""

    id: int
    piece: str
    """The raw form in the vocabulary: `Ġcat`, `▁cat`, `<0xE2>`."""
    data: bytes
    """The bytes of the text that it carries; may be part of a character, or nothing."""
    start: int
    """First character of the text that it carries at least in part."""
    end: int
    """One past the last such character. Tokens that share a character share its span."""
    special: bool
    """Whether it is a control token."""

    def shifted(self, by: int) -> Token:
        """Return the token for a text that has `by` more characters in front."""
        return replace(self, start=self.start + by, end=self.end + by)


def spans_of(text: str, data: Sequence[bytes]) -> list[tuple[int, int]] | None:
    """Return each token's character span by counting bytes.

    Args:
        text: The text, without lone surrogates.
        data: The tokens' bytes.

    Returns:
        (start, end) for each token, or None where the bytes are not the text's own (a normaliser
        changed it, or a character has no token).
    """
    if b"".join(data) != text.encode():
        return None
    # The character that each byte belongs to, and one entry more for the end.
    char_at = [i for i, char in enumerate(text) for _ in range(len(char.encode()))]
    char_at.append(len(text))
    spans, position = [], 0
    for part in data:
        start, position = position, position + len(part)
        # A token without bytes stands between two characters.
        end = char_at[position - 1] + 1 if part else char_at[start]
        spans.append((char_at[start], end))
    return spans


def without_holes(
    spans: Sequence[tuple[int, int]], dropped: Container[int]
) -> list[tuple[int, int]]:
    """Give characters that no span covers to the token before them.

    A normaliser leaves such holes: of `e` and an accent that became one `é`, only the `e` counts.

    Args:
        spans: Spans in order, with holes.
        dropped: Characters that have no token, and whose holes are right.
    """
    filled: list[tuple[int, int]] = []
    later, last_end = 0, -1
    for start, end in reversed(spans):
        if end != last_end:
            # `later` is where the next characters with a token begin.
            later, last_end = (filled[-1][0] if filled else end), end
        hole = range(end, later)
        reaches = start < end and not any(i in dropped for i in hole)
        filled.append((start, max(end, later) if reaches else end))
    return filled[::-1]


def without_surrogates(text: str) -> tuple[str, list[int] | None]:
    """Drop lone surrogates, which no encoding can hold.

    Returns:
        The text without them, and where each of its characters stood; None if nothing was dropped.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        origin = [i for i, char in enumerate(text) if not "\ud800" <= char <= "\udfff"]
        return "".join(text[i] for i in origin), [*origin, len(text)]
    return text, None


def moved(token: Token, origin: Sequence[int]) -> Token:
    """Give a token of a text without surrogates its span in the text with them."""
    start = origin[token.start]
    end = origin[token.end - 1] + 1 if token.end > token.start else start
    return replace(token, start=start, end=end)
