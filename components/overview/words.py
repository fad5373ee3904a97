"""How the overview picture spells tokens and long texts."""

from __future__ import annotations

from components.kit.text import visible

TEXT_LIMIT = 110
PIECE_LIMIT = 14


def piece(data: str, limit: int = PIECE_LIMIT) -> str:
    """Return one token's bytes (as hexadecimal digits) as visible text of at most `limit` signs."""
    return visible(bytes.fromhex(data), limit=limit)


def words(text: str) -> str:
    """Make text visible but keep its spaces, so that a sentence still reads and wraps as one."""
    return " ".join(visible(word) for word in text.split(" "))


def counted(count: int, name: str) -> str:
    """Write how many there are: “1 token”, “1,536 tokens”."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def excerpt(text: str) -> str:
    """Cut the middle out of a long text, and say so."""
    if len(text) <= TEXT_LIMIT:
        return words(text)
    left_out = len(text) - 80
    return f"{words(text[:35])} … ({left_out:,} characters) … {words(text[-45:])}"
