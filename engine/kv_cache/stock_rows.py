"""Texts of equal length, read by the network itself with transformers' own KV cache.

For any family, on any device, one run at a time. With longrope (`engine.network.rotary`) the keys
of a text that has grown beyond the switch are turned at other speeds than those that were kept:
there the whole text is read again, once, as transformers' `generate()` does for Phi-3.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from transformers import DynamicCache

from engine.kv_cache.together import OnePass
from engine.network.rotary import length_switch

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.model.model import LanguageModel


class StockRows:
    """Rows that were read so far, and the cache of their keys and values."""

    def __init__(
        self, model: LanguageModel, *, rewindable: bool = False, keep_states: bool = False
    ) -> None:
        """Begin with nothing read; the arguments are those of `CachedPass`."""
        self._model = model
        self._rewindable = rewindable
        self._cache = self._empty_cache()
        self._rows: list[list[int]] = []
        """What each row has read."""
        self._switch = length_switch(model.network)
        self._is_long = False
        """Whether the kept keys are turned as those of a text beyond the switch are."""
        self._states: list[torch.Tensor] | None = [] if keep_states else None
        self.last_pass = OnePass(0.0, 0)
        """The last pass."""

    def read(self, rows: Sequence[Sequence[int]], last: int) -> Array:
        """Read further tokens of each row and return the logits `[B, last, V]` after the last."""
        model = self._model
        # inference_mode counts for the thread that enters it, so it is entered at each pass.
        with model.lock, torch.inference_mode(), ExitStack() as stack:
            if self._states is not None:
                # To ask transformers for all hidden states takes as long as half a block.
                norm = model.sites.final_norm
                stack.callback(norm.register_forward_hook(self._keep_states).remove)
            start = time.perf_counter()
            parts = [self._read(part, wanted) for part, wanted in self._parts(rows, last)]
            self.last_pass = OnePass((time.perf_counter() - start) * 1000, len(rows))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def repeat(self, rows: int) -> None:
        """Let the one row that was read so far go on as `rows` rows of a batch."""
        self._cache.batch_repeat_interleave(rows)
        self._rows = [list(self._rows[0]) for _ in range(rows)]

    def follow(self, parents: Sequence[int]) -> None:
        """Let row i of the batch go on from what was row `parents[i]`."""
        with torch.inference_mode():
            self._cache.reorder_cache(
                torch.tensor(list(parents), device=self._model.network.device)
            )
        self._rows = [list(self._rows[parent]) for parent in parents]

    def _parts(
        self, rows: Sequence[Sequence[int]], last: int
    ) -> Iterator[tuple[Sequence[Sequence[int]], int]]:
        """Yield the tokens to read at once, and after how many of them logits are wanted.

        It is all of them, but where logits on both sides of the switch are wanted: those before it
        are of a text that has not reached it.
        """
        new, total = len(rows[0]), self.tokens + len(rows[0])
        beyond = total - self._switch if self._switch is not None else 0
        if 0 < beyond < last and beyond < new:
            yield [row[:-beyond] for row in rows], last - beyond
            yield [row[-beyond:] for row in rows], beyond
        else:
            yield rows, last

    def _read(self, rows: Sequence[Sequence[int]], last: int) -> Array:
        """Run the network once over further tokens, or over all where the kept keys do not fit."""
        is_long = self._switch is not None and self.tokens + len(rows[0]) > self._switch
        before = self._rows or [[] for _ in rows]
        self._rows = [[*known, *row] for known, row in zip(before, rows, strict=True)]
        if is_long != self._is_long:
            rows, self._is_long = self._rows, is_long
            self._cache = self._empty_cache()
            if self._states is not None:
                self._states.clear()
        network = self._model.network
        output = network(
            input_ids=torch.tensor([list(ids) for ids in rows], device=network.device),
            cache=self._cache,
            use_cache=True,
            logits_to_keep=last,
        )
        logits_BTV: Array = output.logits[:, -last:].float().cpu().numpy()
        return logits_BTV

    def _empty_cache(self) -> DynamicCache:
        """Return a cache without a token."""
        if self._rewindable:
            return DynamicCache()
        # Only with the config does a cache know about windows; the mask does so in any case.
        return DynamicCache(config=self._model.network.config)

    def _keep_states(self, _: nn.Module, args: Any, output: torch.Tensor) -> None:
        """Keep what the LM head reads, after the final norm."""
        assert self._states is not None
        self._states += output[0].unbind()

    def crop(self, tokens: int) -> None:
        """Forget what was read after the first `tokens`, of which there are fewer."""
        self._cache.crop(tokens - self.tokens)
        self._rows = [row[:tokens] for row in self._rows]
        if self._states is not None:
            del self._states[tokens:]

    def states_from(self, place: int) -> torch.Tensor:
        """Return the last hidden states `[tokens - place, width]`, from one place on."""
        if not self._states:
            raise ValueError("This pass keeps no states, or has read nothing.")
        return torch.stack(self._states[place:])

    def keys_and_values(self) -> list[tuple[Array, Array]]:
        """Return each layer's keys and values of the one row `[G, tokens, K]`."""
        return [(layer.keys[0].numpy(), layer.values[0].numpy()) for layer in self._cache.layers]

    @property
    def tokens(self) -> int:
        """How many tokens have been read: their keys and values need not be computed again."""
        return int(self._cache.get_seq_length())

    @property
    def nbytes(self) -> int:
        """Bytes of all keys and values that are kept."""
        tensors = [
            tensor
            for layer in self._cache.layers
            if layer.is_initialized
            for tensor in (layer.keys, layer.values)
        ]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
