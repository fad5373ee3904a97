"""What the hooks hand over during a pass, and the recorder that copies it into arrays for a trace.

Each kind of tensor goes into one array for all layers, made when the first layer shows its shape.
So every number is copied exactly once and none of the network's own memory is kept alive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from engine.basics.arrays import Array, Flags
from engine.basics.errors import ModelLoadError
from engine.network.tensors import to_array

TOLERANCE = 1e-4
"""How far the summed residual stream may be from the real one, relative to its largest number."""


@dataclass(frozen=True, eq=False)
class AttentionInputs:
    """What the attention function of one layer is given."""

    query: torch.Tensor
    """`[1, H, T, K]`, after position encoding."""
    key: torch.Tensor
    """`[1, G, S, K]`, after position encoding."""
    value: torch.Tensor
    """`[1, G, S, K]`."""
    mask: torch.Tensor | None
    """True where a token may be read, `[1, 1, T, S]`; None means causal."""
    scale: float
    """Factor on `q·k`, usually `1/√K`."""
    softcap: float | None
    """`c` of `c·tanh(score/c)` (Gemma 2), or None."""


class Recorder(Protocol):
    """What takes the tensors of a pass. They are the network's own: copy, never write."""

    def embedded(self, hidden: torch.Tensor) -> None:
        """Take the input of the first block, `[1, T, D]`."""

    def attention(self, layer: int, seen: AttentionInputs) -> None:
        """Take what a layer's attention works on."""

    def added(self, layer: int, part: str, output: torch.Tensor) -> None:
        """Take what "attn_out" or "mlp_out" adds to the residual stream, `[1, T, D]`."""

    def finished(self, hidden: torch.Tensor) -> None:
        """Take the input of the final norm, `[1, T, D]`."""


class Recording:
    """What one pass has shown so far."""

    def __init__(self, layers: int) -> None:
        self.arrays: dict[str, Array] = {}
        self.scales = [1.0] * layers
        self.softcaps: list[float | None] = [None] * layers
        self.masks: list[Flags] = []
        self._layers = layers
        self._mask_tensors: list[tuple[torch.Tensor | None, Flags]] = []

    def embedded(self, hidden: torch.Tensor) -> None:
        """Keep the input of the first block."""
        self.arrays["embedded"] = to_array(_rows(hidden))

    def attention(self, layer: int, seen: AttentionInputs) -> None:
        """Keep one layer's queries, keys and values, and what turns them into scores."""
        self._put("q", layer, seen.query[0])
        self._put("k", layer, seen.key[0])
        self._put("v", layer, seen.value[0])
        self.scales[layer], self.softcaps[layer] = seen.scale, seen.softcap
        self.masks.append(self._mask(seen))

    def added(self, layer: int, part: str, output: torch.Tensor) -> None:
        """Keep what attention or the feed-forward network adds."""
        self._put(part, layer, _rows(output))

    def finished(self, hidden: torch.Tensor) -> None:
        """Check that the parts recorded sum up to what the final norm really reads.

        Raises:
            ModelLoadError: A block adds something else, or scales what it adds.
        """
        total = self.arrays["embedded"].copy()
        for attn_out, mlp_out in zip(self.arrays["attn_out"], self.arrays["mlp_out"], strict=True):
            total += attn_out
            total += mlp_out
        real = to_array(_rows(hidden))
        largest = max(1.0, float(np.abs(real).max()))
        # Half precision rounds each of the model's own sums.
        tolerance = TOLERANCE if hidden.dtype == torch.float32 else 0.05
        if not float(np.abs(real - total).max()) <= tolerance * largest:
            raise ModelLoadError(
                "This model's blocks add something to the residual stream that is neither the "
                "output of attention nor that of the feed-forward network, so a trace would be "
                "wrong. Choose another model."
            )

    def _put(self, name: str, layer: int, tensor: torch.Tensor) -> None:
        """Copy a tensor into its layer's place."""
        if name not in self.arrays:
            self.arrays[name] = np.empty((self._layers, *tensor.shape), dtype=np.float32)
        place = self.arrays[name][layer]
        if place.shape != tensor.shape:
            raise ModelLoadError(
                f"Layer {layer} has {name} of shape {tuple(tensor.shape)} where the first layer "
                f"has {place.shape}: models with unequal layers cannot be traced. Choose another "
                "model."
            )
        torch.from_numpy(place).copy_(tensor)

    def _mask(self, seen: AttentionInputs) -> Flags:
        """Return the mask as an array; layers that share a tensor share the array."""
        for tensor, known in self._mask_tensors:
            if tensor is seen.mask:
                return known
        if seen.mask is None:
            tokens, keys = seen.query.shape[2], seen.key.shape[2]
            mask = np.tri(tokens, keys, dtype=np.bool_)
        else:
            mask = seen.mask[0, 0].cpu().numpy().astype(np.bool_)
        self._mask_tensors.append((seen.mask, mask))
        return mask


def _rows(hidden: torch.Tensor) -> torch.Tensor:
    """Return `[1, T, D]`, or the `[T, D]` of families that flatten the batch (OPT), as `[T, D]`."""
    return hidden.reshape(-1, hidden.shape[-1])
