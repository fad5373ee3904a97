"""Edits as short text, so that a link can carry them: `h9.4 a0 m11 p e3:504`.

h9.4    knock out head 4 of layer 9        m11     knock out the feed-forward network of layer 11
a0      knock out the attention of layer 0 p       turn position off
e3:504  replace the embedding of the token at position 3 by that of token 504
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.basics.errors import EngineError
from engine.network.architecture import Architecture
from engine.observe.edits import (
    Edit,
    KnockOutAttention,
    KnockOutHead,
    KnockOutMlp,
    PositionOff,
    ReplaceEmbedding,
    check_edits,
)

MOST = 300
"""The most edits that a text may hold."""

_HEAD = re.compile(r"h(\d{1,4})\.(\d{1,4})")
_PART = re.compile(r"([am])(\d{1,4})")
_EMBEDDING = re.compile(r"e(\d{1,6}):(\d{1,7})")


def write_edits(edits: Iterable[Edit]) -> str:
    """Return edits as text."""
    return " ".join(_code(edit) for edit in edits)


def read_edits(
    text: str, architecture: Architecture, tokens: int
) -> tuple[tuple[Edit, ...], list[str]]:
    """Read edits from text that a user or a link gives.

    Args:
        text: Codes, separated by blanks or commas.
        architecture: The sizes that layers, heads and ids must stay below.
        tokens: T, the number of tokens of the prompt.

    Returns:
        The edits that can be made, each once, and a sentence on each code that can't be.
    """
    found: dict[Edit, None] = {}
    problems = []
    codes = re.findall(r"[^\s,]+", text)
    if len(codes) > MOST:
        problems.append(f"{len(codes)} edits are more than {MOST}; the rest is left out.")
    for code in codes[:MOST]:
        try:
            edit = _edit(code)
            check_edits([edit], architecture, tokens)
        except EngineError as error:
            problems.append(f"The edit “{code[:40]}” is left out. {error}")
        else:
            found[edit] = None
    return tuple(found), problems


def _edit(code: str) -> Edit:
    if code == "p":
        return PositionOff()
    if match := _HEAD.fullmatch(code):
        return KnockOutHead(int(match[1]), int(match[2]))
    if match := _PART.fullmatch(code):
        return KnockOutAttention(int(match[2])) if match[1] == "a" else KnockOutMlp(int(match[2]))
    if match := _EMBEDDING.fullmatch(code):
        return ReplaceEmbedding(int(match[1]), int(match[2]))
    raise EngineError(
        "Edits are written h9.4 (head), a0 (attention), m11 (feed-forward), p, e3:504."
    )


def _code(edit: Edit) -> str:
    match edit:
        case KnockOutHead(layer, head):
            return f"h{layer}.{head}"
        case KnockOutAttention(layer):
            return f"a{layer}"
        case KnockOutMlp(layer):
            return f"m{layer}"
        case PositionOff():
            return "p"
        case ReplaceEmbedding(position, token_id):
            return f"e{position}:{token_id}"
