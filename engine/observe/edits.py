"""Edits: what a pass can be made to do differently, to see what a part is good for.

An edit is a plain frozen value. A pass with edits is a new trace beside the first one; the network
itself is never changed. Knocking out means that the part adds nothing (zero ablation): what it
would have added is replaced by zeros, a state that the network never met in training. So a
knock-out shows what later parts miss, not what a model trained without the part would do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.basics.errors import EngineError, check_index
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
