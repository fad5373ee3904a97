"""A model as the draft: another one with the same vocabulary, or the target's own first layers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array
from engine.basics.errors import EngineError
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, draw, final_probabilities
from engine.speculative.drafts import NEVER, Proposal, Uniform, WithoutStates

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


def check_same_tokens(model: LanguageModel, target: LanguageModel) -> None:
    """Refuse another model as a draft whose ids stand for other tokens.

    Two vocabularies of one size can still be two vocabularies, and two sizes can be one vocabulary:
    many LM heads are padded with rows that stand for nothing.

    Raises:
        EngineError: The first id that differs is named.
    """
    for token_id in range(max(model.tokenizer.vocabulary, target.tokenizer.vocabulary)):
        one, other = (_piece(m, token_id) for m in (model, target))
        if one != other:
            here, there = (f"“{piece}”" if piece else "nothing" for piece in (one, other))
            raise EngineError(
                f"{model.name} can't guess for {target.name}: the token {token_id} is {here} "
                f"here and {there} there. A draft needs the same vocabulary."
            )


def _piece(model: LanguageModel, token_id: int) -> str:
    """Return what an id stands for; empty for a padding row, and past the last one."""
    known = token_id < model.tokenizer.vocabulary
    return model.tokenizer.piece_of(token_id) if known else ""


class ModelDraft(WithoutStates):
    """A model with the same vocabulary: another one, or the target's own first layers."""

    def __init__(self, model: LanguageModel, vocabulary: int) -> None:
        """Take a model for one run.

        Args:
            model: Its ids stand for the target's tokens (`check_same_tokens`).
            vocabulary: V of the target. The draft's own may be padded to another size.
        """
        self.name = model.name
        self.milliseconds = 0.0
        self._model = model
        self._vocabulary = vocabulary
        self._sequence = CachedPass(model, rewindable=True)
        self._read: list[int] = []
        self._prompt_tokens: int | None = None

    def propose(
        self, context: Sequence[int], k: int, settings: SamplingSettings, uniform: Uniform
    ) -> list[Proposal]:
        """Draw up to k tokens, one small pass each; none after a token that it can't read."""
        self.milliseconds = 0.0
        if self._prompt_tokens is None:
            self._prompt_tokens = len(context)
        text = list(context)
        if max(text) >= self._model.architecture.vocabulary:
            return []
        unread = self._go_back(text)
        proposals: list[Proposal] = []
        for _ in range(k):
            logits = self._sized(self._sequence.advance(unread))
            start = time.perf_counter()
            self._read += unread
            q = final_probabilities(logits, settings, text, prompt_tokens=self._prompt_tokens)
            token_id = draw(q, uniform())
            proposals.append(Proposal(token_id, q))
            text.append(token_id)
            unread = [token_id]
            own = (time.perf_counter() - start) * 1000
            self.milliseconds += self._sequence.milliseconds + own
            if token_id in self._model.stop_ids:
                break
        return proposals

    def _sized(self, logits: Array) -> Array:
        """Return the draft's logits as one for each id of the target, `[V]`."""
        missing = self._vocabulary - len(logits)
        if missing == 0:
            return logits
        padding = np.full(max(missing, 0), NEVER, np.float32)
        return np.concatenate([logits[: self._vocabulary], padding])

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
