"""What each step of the loop costs: the same tokens, read with the KV cache and without it.

With the cache a step reads one new token. Without it every step reads the whole text again. Both
are timed here side by side, step by step, so that a busy moment of the machine hits both.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.cached_pass import CachedPass

if TYPE_CHECKING:
    from engine.model import LanguageModel


@dataclass(frozen=True)
class StepCost:
    """The cost of one token, with and without the cache."""

    index: int
    """0 for the first token of the answer: its step with the cache is the prefill."""
    tokens: int
    """How many tokens come before it: what the step attends to."""
    with_cache: float
    """Milliseconds."""
    without_cache: float
    """Milliseconds."""
    cache_bytes: int
    """What the keys and values of the tokens read so far take."""
    difference: float
    """The largest difference between the two passes' logits."""
    same_choice: bool
    """Whether both passes put the same token first."""


def step_costs(
    model: LanguageModel, prompt: Sequence[int], answer: Sequence[int]
) -> Generator[StepCost, None, None]:
    """Time the passes that the answer took, with the cache and without it.

    Args:
        model: Its lock is held for one pass at a time.
        prompt: The prompt's tokens, at least one.
        answer: The tokens that were written after it. The last one needs no pass.

    Returns:
        One cost a token, as soon as it is measured.
    """
    kept = CachedPass(model)
    ids, unread = list(prompt), list(prompt)
    for index, token_id in enumerate(answer):
        cached = kept.advance(unread)
        afresh = CachedPass(model)  # an empty cache: the whole text is read again
        whole = afresh.advance(ids)
        yield StepCost(
            index=index,
            tokens=len(ids),
            with_cache=kept.milliseconds,
            without_cache=afresh.milliseconds,
            cache_bytes=kept.nbytes,
            difference=float(np.abs(cached - whole).max()),
            same_choice=bool(cached.argmax() == whole.argmax()),
        )
        ids.append(token_id)
        unread = [token_id]
