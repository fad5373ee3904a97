"""What each step of the loop costs: the same tokens, read with the KV cache and without it.

With the cache a step reads one new token. Without it every step reads the whole text again. Both
are timed here side by side, step by step, so that a busy moment of the machine hits both.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.errors import EngineError, checked_prompt
from engine.basics.results import Result
from engine.kv_cache.cached_pass import CachedPass

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


@dataclass(frozen=True)
class StepCost(Result):
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
    best_id: int
    """The token that the pass with the cache puts first."""
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

    Raises:
        EngineError: There are no tokens, too many, or an id does not exist.
    """
    return _costs(
        model,
        checked_prompt(prompt, model.architecture),
        len(answer),
        lambda cost: answer[cost.index],
    )


def greedy_costs(
    model: LanguageModel, prompt: Sequence[int], steps: int
) -> Generator[StepCost, None, None]:
    """Time the passes of a greedy answer: each token is the one that the cached pass puts first.

    Args:
        model: Its lock is held for one pass at a time.
        prompt: The prompt's tokens, at least one.
        steps: How many, at least 1; fewer if the context is full.

    Returns:
        One cost a token, as soon as it is measured.

    Raises:
        EngineError: There are no tokens, an id does not exist, or there are no steps.
    """
    known = checked_prompt(prompt, model.architecture)
    if steps < 1:
        raise EngineError(f"There must be at least 1 step, not {steps}.")
    room = model.architecture.context - len(known) + 1
    return _costs(model, known, min(steps, room), lambda cost: cost.best_id)


def _costs(
    model: LanguageModel, ids: list[int], steps: int, written: Callable[[StepCost], int]
) -> Generator[StepCost, None, None]:
    """Yield the cost of each step; `written` names the token that follows it."""
    kept, unread = CachedPass(model), list(ids)
    for index in range(steps):
        cached = kept.advance(unread)
        afresh = CachedPass(model)  # an empty cache: the whole text is read again
        whole = afresh.advance(ids)
        best = int(cached.argmax())
        cost = StepCost(
            index=index,
            tokens=len(ids),
            with_cache=kept.milliseconds,
            without_cache=afresh.milliseconds,
            cache_bytes=kept.nbytes,
            difference=float(np.abs(cached - whole).max()),
            best_id=best,
            same_choice=best == int(whole.argmax()),
        )
        yield cost
        unread = [written(cost)]
        ids += unread
