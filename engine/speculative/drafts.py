"""Drafts for speculative decoding: what they must offer, the kinds there are, and prompt lookup.

A draft guesses the next few tokens cheaply. With each token it gives the distribution q that it
really drew the token from, because the check compares the target's p with exactly that q. A draft
that is a model is in `engine.speculative.model_draft`, the trained one in
`engine.speculative.distilled`. Neither torch nor transformers is imported here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from engine.basics.arrays import Array
from engine.basics.results import Result
from engine.sampling.settings import SamplingSettings

if TYPE_CHECKING:
    from engine.kv_cache.cached_pass import CachedPass

Uniform = Callable[[], float]
"""Gives the next random number in [0, 1)."""

NEVER = -1e4
"""The logit of a token that a draft can't guess: its probability is 0 at every temperature."""


class DraftKind(StrEnum):
    """The kinds of draft that need no second model; the value is the name on the screen."""

    LOOKUP = "Prompt lookup"
    EARLY_EXIT = "Early exit"
    DISTILLED = "Distilled"


@dataclass(frozen=True, eq=False)
class Proposal(Result):
    """One guessed token."""

    id: int
    q: Array
    """[V] the distribution that it was drawn from; one-hot if it was not drawn at random."""


class Draft(Protocol):
    """What proposes tokens. A draft may remember the text that it read, so it serves one run."""

    name: str
    reads_states: bool
    """Whether it reads the target's last hidden states; then `follow` is called first."""

    @property
    def milliseconds(self) -> float:
        """How long the last call took, without waiting for other runs."""

    def follow(self, target: CachedPass) -> None:
        """Read the target's states from this pass, which keeps them, from now on."""

    def propose(
        self, context: Sequence[int], k: int, settings: SamplingSettings, uniform: Uniform
    ) -> list[Proposal]:
        """Guess up to `k` tokens that follow the context, none after an end token.

        Args:
            context: The whole text so far, at the first call the prompt alone. Since the last
                call, rejected guesses have been removed from it and other tokens added.
            k: How many at most.
            settings: The run's; the draft's distribution passes through them too.
            uniform: Gives the next random number in [0, 1).
        """


class WithoutStates:
    """A draft that does not read the target's states."""

    reads_states = False

    def follow(self, target: CachedPass) -> None:
        """Do nothing."""


class PromptLookup(WithoutStates):
    """Guess that the last few tokens are followed by what followed them before in this text.

    It costs next to nothing and is right where a text repeats itself: copying, summarising, code.
    Source: Saxena, "Prompt lookup decoding" (2023).
    """

    def __init__(self, vocabulary: int, stop_ids: frozenset[int], *, longest: int = 3) -> None:
        """Look for the last `longest` tokens first, then for fewer."""
        self.name = DraftKind.LOOKUP.value
        self.milliseconds = 0.0
        self._vocabulary = vocabulary
        self._stop_ids = stop_ids
        self._longest = longest

    def propose(
        self, context: Sequence[int], k: int, settings: SamplingSettings, uniform: Uniform
    ) -> list[Proposal]:
        """Return the tokens after the latest earlier place where the text has the same ending."""
        start = time.perf_counter()
        found = continuation(context, k, self._longest)
        proposals = []
        for token_id in found:
            proposals.append(Proposal(token_id, self._certain(token_id)))
            if token_id in self._stop_ids:
                break
        self.milliseconds = (time.perf_counter() - start) * 1000
        return proposals

    def _certain(self, token_id: int) -> Array:
        q = np.zeros(self._vocabulary, np.float32)
        q[token_id] = 1.0
        return q


def continuation(context: Sequence[int], k: int, longest: int = 3) -> list[int]:
    """Return up to k tokens that followed the latest earlier occurrence of the text's end.

    The last `longest` tokens are looked for, then fewer, down to one.
    """
    ids = np.asarray(context, dtype=np.int64)
    for size in range(min(longest, len(ids) - 1), 0, -1):
        windows = np.lib.stride_tricks.sliding_window_view(ids[:-1], size)
        places = np.flatnonzero((windows == ids[-size:]).all(axis=1))
        if len(places):
            start = int(places[-1]) + size
            return [int(token_id) for token_id in ids[start : start + k]]
    return []
