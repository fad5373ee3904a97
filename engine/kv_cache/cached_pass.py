"""The KV cache at work: a pass that reads only new tokens, for one sequence or a batch of rows.

The keys and values of the tokens read so far are kept, so the next pass runs over the new tokens
alone and attends to the kept ones. The result is that of one pass over the whole text.

Where the network is of a kind that this project has compiled, the pass is shared with all who read
at the same time (`engine.kv_cache.together`). Everywhere else the network reads for one run after
the other (`engine.kv_cache.stock_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.kv_cache.shared_rows import SharedRows
from engine.kv_cache.stock_rows import StockRows
from engine.kv_cache.together import together_with

if TYPE_CHECKING:
    import torch

    from engine.basics.arrays import Array
    from engine.model.model import LanguageModel


class CachedPass:
    """A sequence that grows, or several rows of equal length, and their KV cache.

    For one run, used by one thread at a time.

    Nothing outside refers to it: when the run forgets it, the cache is freed.
    """

    def __init__(
        self, model: LanguageModel, *, rewindable: bool = False, keep_states: bool = False
    ) -> None:
        """Begin with nothing read.

        Args:
            model: The model that reads.
            rewindable: Keep every token's keys and values, so that `rewind` can go back. Without it
                layers with a sliding window keep no more than their window.
            keep_states: Keep every token's last hidden state too, for a draft that reads it.
        """
        together = together_with(model)
        self._rows: SharedRows | StockRows = (
            StockRows(model, rewindable=rewindable, keep_states=keep_states)
            if together is None
            else SharedRows(model, together, keep_states=keep_states)
        )

    def advance(self, ids: Sequence[int]) -> Array:
        """Read further tokens and return the logits `[V]` of what follows them.

        The model's lock is held for this one pass, so that runs side by side take turns or share
        it.
        """
        logits_V: Array = self._rows.read([ids], 1)[0, 0]
        return logits_V

    def advance_many(self, ids: Sequence[int], last: int) -> Array:
        """Read further tokens and return the logits `[last, V]` after each of the last ones."""
        logits_TV: Array = self._rows.read([ids], last)[0]
        return logits_TV

    def advance_rows(self, rows: Sequence[Sequence[int]]) -> Array:
        """Read further tokens in each row of a batch and return the logits `[B, V]` after them.

        Args:
            rows: For each row its new tokens, equally many in all.
        """
        logits_BV: Array = self._rows.read(rows, 1)[:, 0]
        return logits_BV

    def repeat(self, rows: int) -> None:
        """Let the one row that was read so far go on as `rows` rows of a batch."""
        if rows > 1:
            self._rows.repeat(rows)

    def follow(self, parents: Sequence[int]) -> None:
        """Let row i of the batch go on from what was row `parents[i]`."""
        self._rows.follow(parents)

    def rewind(self, tokens: int) -> None:
        """Forget what was read after the first `tokens`: the cache is as if it had never been.

        Only for a rewindable pass; to go forward is not possible.
        """
        if tokens < self.tokens:
            self._rows.crop(tokens)

    def states_from(self, place: int) -> torch.Tensor:
        """Return the last hidden states `[tokens - place, width]`, from one place on."""
        return self._rows.states_from(place)

    @property
    def milliseconds(self) -> float:
        """How long the last pass took, without waiting for its turn."""
        return self._rows.last_pass.milliseconds

    @property
    def texts(self) -> int:
        """How many texts the last pass was shared by, this run's own among them."""
        return self._rows.last_pass.texts

    @property
    def tokens(self) -> int:
        """How many tokens have been read: their keys and values need not be computed again."""
        return self._rows.tokens

    @property
    def nbytes(self) -> int:
        """Bytes of all keys and values that are kept."""
        return self._rows.nbytes
