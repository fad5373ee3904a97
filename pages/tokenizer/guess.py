"""The tokenizer's question: the same text written in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.guess import Guess, numbers
from components.kit.text import counted, excerpt

if TYPE_CHECKING:
    from pages.frame.live import Live

LONGEST = 200
"""Characters of the prompt that are written anew."""


def ask(live: Live) -> Guess | None:
    """Ask how many tokens the prompt has in capital letters, or in another disguise."""
    text = live.request.prompt[:LONGEST]
    if not text.strip():
        return None
    encode = live.model.tokenizer.encode
    ways = (
        ("in capital letters", text.upper()),
        ("in small letters", text.lower()),
        ("backwards", text[::-1]),
        ("twice", text + text),
    )
    way, changed = next((name, other) for name, other in ways if other != text)
    now, then = len(encode(text)), len(encode(changed))
    return numbers(
        f"“{excerpt(text)}” has {counted(now, 'token')}. How many has it {way}?",
        then,
        (now, 2 * now, len(changed)),
        f"“{excerpt(changed)}” is cut into {counted(then, 'token')}. To the model it is "
        "another text with other ids: pieces are learned from how people usually write.",
        least=1,
    )
