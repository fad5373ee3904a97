"""Write many answers to one prompt in one batch, with a guard on the logits.

The prompt is read once; its KV cache is then repeated, one row per seed, and every pass gives each
row its next token. A row draws with its own random numbers, so it writes what a single run would
write with the same seed. Before each draw a guard may remove tokens; it sees what the row has
written so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from engine.basics.arrays import Flags
from engine.basics.errors import EngineError, checked_prompt
from engine.basics.results import Result
from engine.generation.random_numbers import uniforms
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, draw, final_probabilities, softmax

if TYPE_CHECKING:
    from engine.model.model import LanguageModel

MOST_ROWS = 16
"""Most rows of one batch: up to here a pass over all rows costs little more than over one."""

Guard = Callable[[Sequence[int]], Flags | None]
"""Takes what a row has written and returns `[V]`, True where a token may come next, or None if all
may."""


@dataclass(frozen=True)
class RowStep(Result):
    """One token of one row."""

    id: int
    data: bytes
    """The token's bytes; empty for an end token."""
    text: str
    """What can be shown now: characters whose bytes are complete. Control tokens give no text."""
    wanted: int
    """The model's own likeliest token, whatever the guard allows."""
    allowed: int
    """How many tokens the guard let through."""
    forbidden_mass: float
    """How much of the model's own probability the guard removed, 0 to 1."""
    guard_milliseconds: float
    """Time that the guard took for this token."""
    last: bool
    """Whether the row ends here: an end token, the budget, or no room in the context."""
    cut: bool = False
    """Whether the row ends here without an end token: the answer may be unfinished."""


def write_rows(
    model: LanguageModel,
    ids: Sequence[int],
    settings: SamplingSettings,
    *,
    seeds: Sequence[int],
    max_new_tokens: int,
    guard: Guard | None = None,
) -> Iterator[tuple[RowStep | None, ...]]:
    """Write one answer per seed; every step adds one token to each row.

    Args:
        model: Its lock is held for one pass at a time.
        ids: The prompt's tokens.
        settings: How each token is drawn, after the guard.
        seeds: One per row, at most `MOST_ROWS`.
        max_new_tokens: The token budget of each row.
        guard: Says which tokens may come next.

    Returns:
        Per step one entry per row, None for a row that has ended.

    Raises:
        EngineError: No tokens, no room, no rows or too many, or a guard that allows nothing.
    """
    prompt = checked_prompt(ids, model.architecture, room=1)
    if not 1 <= len(seeds) <= MOST_ROWS or max_new_tokens < 1:
        raise EngineError(
            f"A batch takes 1 to {MOST_ROWS} seeds and at least 1 token, but got {len(seeds)} "
            f"and {max_new_tokens}."
        )
    budget = min(max_new_tokens, model.architecture.context - len(prompt))
    rows = [_Row(model, uniforms(seed, budget)) for seed in seeds]
    return _steps(model, prompt, settings, rows, budget, guard)


def _steps(
    model: LanguageModel,
    prompt: list[int],
    settings: SamplingSettings,
    rows: list[_Row],
    budget: int,
    guard: Guard | None,
) -> Iterator[tuple[RowStep | None, ...]]:
    reading = CachedPass(model)
    logits_BV = np.repeat(reading.advance_rows([prompt]), len(rows), axis=0)
    reading.repeat(len(rows))
    for count in range(1, budget + 1):
        steps = tuple(
            row.take(logits, prompt, settings, guard, final=count == budget)
            for row, logits in zip(rows, logits_BV, strict=True)
        )
        yield steps
        if all(row.ended for row in rows):
            return
        # Rows that have ended are fed their last token again, so that the batch keeps its shape.
        logits_BV = reading.advance_rows([row.written[-1:] for row in rows])


class _Row:
    """What one answer carries from token to token."""

    def __init__(self, model: LanguageModel, numbers: tuple[float, ...]) -> None:
        self.model = model
        self.numbers = numbers
        self.written: list[int] = []
        self.ended = False
        self.decoder = model.tokenizer.stream(continuing=True, skip_special=True)

    def take(
        self,
        logits: npt.NDArray[np.float32],
        prompt: list[int],
        settings: SamplingSettings,
        guard: Guard | None,
        *,
        final: bool,
    ) -> RowStep | None:
        """Ask the guard, draw a token and say what happened; None once the row has ended."""
        if self.ended:
            return None
        start = time.perf_counter()
        allowed = None if guard is None else guard(tuple(self.written))
        spent = (time.perf_counter() - start) * 1000
        scores = logits if allowed is None else np.where(allowed, logits, np.float32(-np.inf))
        if not np.isfinite(scores).any():
            raise EngineError("This guard allows no token at all here. Loosen it.")
        # As in `generate`: the chain sees prompt and answer, and number i draws token i.
        shares = final_probabilities(
            scores, settings, [*prompt, *self.written], prompt_tokens=len(prompt)
        )
        token_id = draw(shares, self.numbers[len(self.written)])
        self.written.append(token_id)
        stop = token_id in self.model.stop_ids
        self.ended = stop or final
        text = "" if stop else self.decoder.push(token_id)
        return RowStep(
            id=token_id,
            data=b"" if stop else self.model.tokenizer.bytes_of(token_id),
            text=text + (self.decoder.flush() if self.ended else ""),
            wanted=int(logits.argmax()),
            allowed=len(logits) if allowed is None else int(allowed.sum()),
            forbidden_mass=0.0 if allowed is None else float(softmax(logits)[~allowed].sum()),
            guard_milliseconds=spent,
            last=self.ended,
            cut=final and not stop,
        )
