"""A chat as a reader sees it: whose turn, and the words, without the control tokens around them.

Templates differ in how they write a turn: `<|im_start|>user`, a line break and the words, or the
role between two control tokens and the words after them. Both come out alike here. A template that
names no role gives one turn without a role, with all of its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from engine.overview.facts import TurnFact

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Tokenizer

ROLES = frozenset({"system", "developer", "user", "assistant", "model", "tool"})
"""Names of roles as templates write them."""


def turns(tokenizer: Tokenizer, ids: Sequence[int]) -> tuple[TurnFact, ...]:
    """Return the turns of a rendered chat, in order; the last one may still be empty.

    Args:
        tokenizer: It knows which tokens are control tokens.
        ids: The tokens of the rendered template and of what the model has written.
    """
    found: list[tuple[str, str]] = []
    for special, group in groupby(ids, key=tokenizer.is_special):
        if special:
            continue
        text = b"".join(tokenizer.bytes_of(token_id) for token_id in group)
        role, words = _role_and_words(text.decode("utf-8", "replace"))
        if role is not None:
            found.append((role, words))
        elif words.strip():
            role, before = found.pop() if found else ("", "")
            found.append((role, before + words))
    return tuple(TurnFact(role, words.strip()) for role, words in found)


def _role_and_words(text: str) -> tuple[str | None, str]:
    """Split text that follows a control token into a role, if it opens with one, and the rest."""
    first, _, rest = text.lstrip("\n").partition("\n")
    return (first.strip(), rest) if first.strip() in ROLES else (None, text)
