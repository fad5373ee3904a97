"""Compare two orders of the same tokens, with position encoding and with position turned off.

Attention by itself is a weighted sum over a set, and a sum does not depend on the order of its
terms. So with position turned off, the first layer gives the last token the same for any order of
the tokens before it. From the second layer on the causal mask still reveals order: the earlier
tokens already differ, because each of them has read other tokens before it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array, frozen
from engine.basics.distribution import softmax, top
from engine.basics.results import Result
from engine.basics.statistics import total_variation
from engine.observe.edits import PositionOff
from engine.tracing.trace import trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.basics.distribution import TopTokens
    from engine.model.model import LanguageModel
    from engine.tracing.trace import Trace

BEST = 5
"""How many of the next tokens are named."""


@dataclass(frozen=True, eq=False)
class OrderEffect(Result):
    """How much the last token's results differ between two orders."""

    differences: Array
    """`[L]`: per layer ‖attn_out of the first − of the second‖ / ‖attn_out of the first‖; 0 if both
    are the same."""
    distance: float
    """Total variation distance of the two next-token distributions: half of the sum of all absolute
    differences; 0 if they are the same, 1 if they have nothing in common."""
    first: TopTokens
    """The most probable next tokens after the first order."""
    second: TopTokens
    """The most probable next tokens after the second order."""


@dataclass(frozen=True, eq=False)
class OrderComparison(Result):
    """Two orders of some tokens, with the model's own positions and with position off."""

    same_tokens: bool
    """Whether both have the same tokens, in any order, and the same last token: only then can the
    first layer not tell them apart without positions."""
    only_first: tuple[int, ...]
    """Ids that the first has and the second lacks, each as often as it is missing."""
    only_second: tuple[int, ...]
    with_position: OrderEffect
    without_position: OrderEffect


def compare(
    model: LanguageModel, first_ids: Sequence[int], second_ids: Sequence[int]
) -> OrderComparison:
    """Run both orders with and without position, and compare what their last token gets.

    Args:
        model: The model.
        first_ids: One order.
        second_ids: Another order of the same tokens, with the same last token.

    Raises:
        EngineError: No tokens, or too many.
    """
    first, second = Counter(first_ids), Counter(second_ids)
    runs = [
        (trace(model, first_ids, edits=edits), trace(model, second_ids, edits=edits))
        for edits in ((), (PositionOff(),))
    ]
    return OrderComparison(
        same_tokens=first == second and first_ids[-1] == second_ids[-1],
        only_first=tuple((first - second).elements()),
        only_second=tuple((second - first).elements()),
        with_position=_effect(*runs[0]),
        without_position=_effect(*runs[1]),
    )


def _effect(first: Trace, second: Trace) -> OrderEffect:
    one, other = first.attn_out[:, -1], second.attn_out[:, -1]
    lengths = np.linalg.norm(one, axis=-1)
    return OrderEffect(
        differences=frozen(np.linalg.norm(one - other, axis=-1) / np.maximum(lengths, 1e-30)),
        distance=total_variation(softmax(first.logits), softmax(second.logits)),
        first=top(first.logits, BEST),
        second=top(second.logits, BEST),
    )


def written(
    model: LanguageModel, ids: Sequence[int], count: int, *, positions: bool
) -> tuple[int, ...]:
    """Return the `count` tokens that the model writes next, always taking the most probable one.

    Each comes from a pass over the whole text so far. It ends early at an end token, which is not
    returned.

    Args:
        model: The model.
        ids: The text to go on with.
        count: How many tokens to write, at most.
        positions: Whether the model is told where each token stands.

    Raises:
        EngineError: No tokens, or too many.
    """
    edits = () if positions else (PositionOff(),)
    text = list(ids)
    for _ in range(count):
        best = int(trace(model, text, edits=edits).logits.argmax())
        if best in model.stop_ids:
            break
        text.append(best)
    return tuple(text[len(ids) :])
