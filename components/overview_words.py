"""How the overview picture spells tokens, long texts, probabilities and sizes."""

from __future__ import annotations

from components.text import visible

TEXT_LIMIT = 110
PIECE_LIMIT = 14


def piece(data: str, limit: int = PIECE_LIMIT) -> str:
    """Return one token's bytes (as hexadecimal digits) as visible text of at most `limit` signs."""
    return visible(bytes.fromhex(data), limit=limit)


def percent(probability: float) -> str:
    """Return a probability with the digits that matter: `77 %`, `3.2 %`, `< 0.1 %`."""
    if probability > 0.995:
        return "100 %" if probability > 0.99999 else "> 99 %"
    if probability >= 0.0995:
        return f"{probability:.0%}".replace("%", " %")
    return f"{probability:.1%}".replace("%", " %") if probability >= 0.001 else "< 0.1 %"


def size(count: int) -> str:
    """Return a number of bytes in kB or MB."""
    return f"{count / 1000:,.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:,.1f} MB"


def words(text: str) -> str:
    """Make text visible but keep its spaces, so that a sentence still reads and wraps as one."""
    return " ".join(visible(word) for word in text.split(" "))


def excerpt(text: str) -> str:
    """Cut the middle out of a long text, and say so."""
    if len(text) <= TEXT_LIMIT:
        return words(text)
    left_out = len(text) - 80
    return f"{words(text[:35])} … ({left_out:,} characters) … {words(text[-45:])}"
