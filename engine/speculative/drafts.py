"""Drafts for speculative decoding: what guesses the next few tokens cheaply.

Every draft says with each token the distribution q that it really drew it from, since the check
needs q and not what the draft would rather have.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from engine.basics.errors import EngineError
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, draw, final_probabilities

if TYPE_CHECKING:
    from engine.model.model import LanguageModel

Floats = npt.NDArray[np.float32]

Uniform = Callable[[], float]


@dataclass(frozen=True, eq=False)
class Proposal:
    """One guessed token."""

    id: int
    q: Floats
    """[V] the distribution that it was drawn from; one-hot if nothing was left to chance."""


class Draft(Protocol):
    """What proposes tokens. It may keep what it read of one text, so it serves one run."""

    name: str
    reads_states: bool
    """Whether it looks at the target's last hidden states; then `follow` is called first."""

    @property
    def milliseconds(self) -> float:
        """How long the last call took, without waiting for its turn."""

    def follow(self, target: CachedPass) -> None:
        """Look at the target's states, which this pass keeps, from now on."""

    def propose(
        self, context: Sequence[int], k: int, settings: SamplingSettings, uniform: Uniform
    ) -> list[Proposal]:
        """Guess up to `k` tokens that follow the context, none after an end token.

        Args:
            context: The whole text so far. Compared with the last call, guesses that were
                rejected are gone and other tokens have come.
            k: How many at most.
            settings: The run's; the draft's distribution goes through them too.
            uniform: Gives the next random number in [0, 1).
        """


class WithoutStates:
    """A draft that needs nothing of the target."""

    reads_states = False

    def follow(self, target: CachedPass) -> None:
        """Look at nothing."""


class PromptLookup(WithoutStates):
    """Guess that what followed the last few tokens before follows them again.

    Source: Saxena, "Prompt lookup decoding" (2023). It costs nothing, and it is right where a text
    repeats itself: copying, summarising, code.
    """

    def __init__(self, vocabulary: int, stop_ids: frozenset[int], *, longest: int = 3) -> None:
        """Look for the last `longest` tokens first, then for fewer."""
        self.name = "Prompt lookup"
        self.milliseconds = 0.0
        self._vocabulary = vocabulary
        self._stop_ids = stop_ids
        self._longest = longest

    def propose(
        self, context: Sequence[int], k: int, settings: SamplingSettings, uniform: Uniform
    ) -> list[Proposal]:
        """Return the tokens after the latest earlier place with the same ending; none without."""
        start = time.perf_counter()
        found = continuation(context, k, self._longest)
        proposals = []
        for token_id in found:
            proposals.append(Proposal(token_id, self._certain(token_id)))
            if token_id in self._stop_ids:
                break
        self.milliseconds = (time.perf_counter() - start) * 1000
        return proposals

    def _certain(self, token_id: int) -> Floats:
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


class ModelDraft(WithoutStates):
    """A model with the same vocabulary: another one, or the target's own first layers."""

    def __init__(self, model: LanguageModel, vocabulary: int) -> None:
        """Take a model for one run.

        Raises:
            EngineError: Its vocabulary is not the target's.
        """
        if model.architecture.vocabulary != vocabulary:
            raise EngineError(
                f"{model.name} has {model.architecture.vocabulary} tokens and the target "
                f"{vocabulary}: a draft needs the same vocabulary."
            )
        self.name = model.name
        self.milliseconds = 0.0
        self._model = model
        self._sequence = CachedPass(model, rewindable=True)
        self._read: list[int] = []

    def propose(
        self, context: Sequence[int], k: int, settings: SamplingSettings, uniform: Uniform
    ) -> list[Proposal]:
        """Draw up to k tokens, one small pass each."""
        self.milliseconds = 0.0
        text = list(context)
        unread = self._go_back(text)
        proposals: list[Proposal] = []
        for _ in range(k):
            logits = self._sequence.advance(unread)
            start = time.perf_counter()
            self._read += unread
            q = final_probabilities(logits, settings, text)
            token_id = draw(q, uniform())
            proposals.append(Proposal(token_id, q))
            text.append(token_id)
            unread = [token_id]
            own = (time.perf_counter() - start) * 1000
            self.milliseconds += self._sequence.milliseconds + own
            if token_id in self._model.stop_ids:
                break
        return proposals

    def _go_back(self, text: list[int]) -> list[int]:
        """Forget guesses that were rejected, and return what has not been read yet."""
        same = 0
        # At least the last token is read again: its logits are wanted.
        most = min(len(self._read), len(text) - 1)
        while same < most and self._read[same] == text[same]:
            same += 1
        self._sequence.rewind(same)
        del self._read[same:]
        return text[same:]
