"""Edits of a forward pass: the kinds there are, their check, and their short text form for links.

An edit is a frozen value. A pass with edits gives a trace of its own; the network itself is never
changed. To knock a part out means that it adds zeros to the residual stream (zero ablation), a
state that the network never met in training. So a knock-out shows what later parts miss, not what
a model trained without the part would do.

As text, edits are written `h9.4 a0 m11 p e3:504`:

    h9.4    knock out head 4 of layer 9
    a0      knock out the attention of layer 0
    m11     knock out the feed-forward network of layer 11
    p       turn position off
    e3:504  replace the embedding of the token at position 3 by that of token 504
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.basics.errors import EngineError, check_index

if TYPE_CHECKING:
    from engine.network.architecture import Architecture


@dataclass(frozen=True)
class KnockOutHead:
    """One head's output `pattern @ v` becomes zero before the output projection."""

    layer: int
    head: int


@dataclass(frozen=True)
class KnockOutAttention:
    """A layer's attention adds nothing to the residual stream."""

    layer: int


@dataclass(frozen=True)
class KnockOutMlp:
    """A layer's feed-forward network adds nothing to the residual stream."""

    layer: int


@dataclass(frozen=True)
class PositionOff:
    """Every token claims position 0, so the order of the tokens is known only from the mask.

    With RoPE no query or key is rotated; with learned positions every token gets the vector of
    position 0. The causal mask stays.
    """


@dataclass(frozen=True)
class ReplaceEmbedding:
    """The vector of the token at `position` is that of another token of the vocabulary."""

    position: int
    token_id: int


Edit = KnockOutHead | KnockOutAttention | KnockOutMlp | PositionOff | ReplaceEmbedding


MOST_EDITS = 300
"""The most edits that one text may hold."""

_HEAD = re.compile(r"h(\d{1,4})\.(\d{1,4})")
_PART = re.compile(r"([am])(\d{1,4})")
_EMBEDDING = re.compile(r"e(\d{1,6}):(\d{1,7})")


def check_edits(edits: Iterable[Edit], architecture: Architecture, tokens: int) -> tuple[Edit, ...]:
    """Check every edit against the model and the prompt.

    Args:
        edits: The edits; of two `ReplaceEmbedding` at one position the later wins.
        architecture: The sizes that layers, heads and ids must stay below.
        tokens: T, the number of tokens of the prompt.

    Raises:
        EngineError: A number is out of range, or something is no edit.
    """
    checked = tuple(edits)
    for edit in checked:
        match edit:
            case KnockOutHead(layer, head):
                check_index("layer", layer, architecture.layers)
                check_index("head", head, architecture.heads)
            case KnockOutAttention(layer) | KnockOutMlp(layer):
                check_index("layer", layer, architecture.layers)
            case ReplaceEmbedding(position, token_id):
                check_index("position", position, tokens)
                check_index("token id", token_id, architecture.vocabulary)
            case PositionOff():
                pass
            case _:
                raise EngineError(f"{edit!r} is no edit that this project knows.")
    return checked


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
    if len(codes) > MOST_EDITS:
        problems.append(f"{len(codes)} edits are more than {MOST_EDITS}; the rest is left out.")
    for code in codes[:MOST_EDITS]:
        try:
            edit = _edit(code)
            check_edits([edit], architecture, tokens)
        except EngineError as error:
            problems.append(f"The edit “{code[:40]}” is left out. {error}")
        else:
            found[edit] = None
    return tuple(found), problems


def _edit(code: str) -> Edit:
    """Read one edit; its numbers are not checked yet."""
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
    """Write one edit."""
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
