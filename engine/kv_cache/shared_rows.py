"""Texts that are read together with everybody else's (`engine.kv_cache.together`).

Only a long prompt is read alone: there one product over all of its tokens is the fastest way. Who
reads in which way is decided by the text alone, so nobody's numbers depend on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from engine.basics.errors import checked_ids
from engine.kv_cache.stock_rows import StockRows
from engine.kv_cache.together import MOST_ROWS, OnePass, Together
from engine.network.decoder import Reading, Text

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.model.model import LanguageModel


class SharedRows:
    """Rows that were read so far, each a text with keys and values of its own."""

    def __init__(
        self, model: LanguageModel, together: Together, *, keep_states: bool = False
    ) -> None:
        """Begin with nothing read; the arguments are those of `CachedPass`."""
        self._model, self._together = model, together
        self._texts: list[Text] = []
        self._states: list[Array] | None = [] if keep_states else None
        self.last_pass = OnePass(0.0, 0)
        """The last pass."""

    def read(self, rows: Sequence[Sequence[int]], last: int) -> Array:
        """Read further tokens of each row and return the logits `[B, last, V]` after the last.

        Raises:
            EngineError: An id does not exist: the compiled pass looks nothing up twice.
        """
        rows = [checked_ids(row, self._together.decoder.vocabulary) for row in rows]
        if not self._texts and len(rows) == 1 and len(rows[0]) > MOST_ROWS:
            return self._read_long(rows, last)
        self._texts = self._texts or [self._together.decoder.text() for _ in rows]
        return self._read_pieces(rows, last)

    def _read_pieces(self, rows: Sequence[Sequence[int]], last: int) -> Array:
        """Read so many tokens at once that others need not wait long for their turn.

        It makes no difference to the logits.
        """
        count = len(rows[0])
        step = max(1, MOST_ROWS // len(rows))
        spent, texts = 0.0, 0
        found: list[list[Array]] = [[] for _ in rows]
        for start in range(0, count, step):
            end = min(start + step, count)
            wanted = max(0, min(end - start, end - (count - last)))
            readings = [
                Reading(text, row[start:end], wanted)
                for text, row in zip(self._texts, rows, strict=True)
            ]
            one = self._together.read(readings)
            spent, texts = spent + one.milliseconds, max(texts, one.texts)
            for logits, reading in zip(found, readings, strict=True):
                logits.append(reading.logits)
            if self._states is not None:
                self._states += list(readings[0].states.copy())
        self.last_pass = OnePass(spent, texts)
        return np.stack([np.concatenate(logits) for logits in found])

    def _read_long(self, rows: Sequence[Sequence[int]], last: int) -> Array:
        """Let the network itself read a long prompt, which is faster, and take over its cache."""
        stock = StockRows(self._model, rewindable=True, keep_states=self._states is not None)
        logits_BTV = stock.read(rows, last)
        text = self._together.decoder.text()
        text.take_over(stock.keys_and_values())
        self._texts = [text]
        if self._states is not None:
            self._states += list(stock.states_from(0).numpy())
        self.last_pass = stock.last_pass
        return logits_BTV

    def repeat(self, rows: int) -> None:
        """Let the one row that was read so far go on as `rows` rows of a batch."""
        self.follow([0] * rows)

    def follow(self, parents: Sequence[int]) -> None:
        """Let row i of the batch go on from what was row `parents[i]`."""
        self._texts = [self._texts[parent].copy() for parent in parents]

    def crop(self, tokens: int) -> None:
        """Forget what was read after the first `tokens`, of which there are fewer."""
        for text in self._texts:
            text.tokens = tokens
        if self._states is not None:
            del self._states[tokens:]

    def states_from(self, place: int) -> torch.Tensor:
        """Return the last hidden states `[tokens - place, width]`, from one place on."""
        if not self._states:
            raise ValueError("This pass keeps no states, or has read nothing.")
        return torch.from_numpy(np.stack(self._states[place:]))

    @property
    def tokens(self) -> int:
        """How many tokens have been read: their keys and values need not be computed again."""
        return self._texts[0].tokens if self._texts else 0

    @property
    def nbytes(self) -> int:
        """Bytes of all keys and values that are kept."""
        return sum(text.nbytes for text in self._texts)
