"""What the signs mean that stand on the tokenizer page for what can't be seen."""

from __future__ import annotations

from collections.abc import Iterable

SIGNS: tuple[tuple[str, str], ...] = (
    ("·", "a space"),
    ("⏎", "a line break"),
    ("␍", "a carriage return"),
    ("⇥", "a tab"),
    ("Ġ", "how this vocabulary writes a space in front"),
    ("Ċ", "how it writes a line break"),
    ("▁", "how this vocabulary writes a space in front"),
    ("⟨F0⟩", "a character without a picture, or bytes that are only a part of one"),
    ("×3", "a character that takes so many tokens"),
)
"""Each sign, known by how it begins, with its meaning."""


def legend(texts: Iterable[str]) -> str:
    """Return one line that explains the signs that stand in the texts; "" if there are none."""
    seen = "".join(texts)
    found = [f"{sign} {meaning}" for sign, meaning in SIGNS if sign[0] in seen]
    return f"Signs: {'; '.join(found)}." if found else ""
