"""Small helpers for torch tensors: copy one to numpy, find one among arguments, ids for a probe."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from engine.basics.arrays import Array


def to_array(tensor: torch.Tensor) -> Array:
    """Copy a tensor of any device and precision into a read-only float32 array."""
    array = np.array(tensor.detach().float().cpu().numpy(), dtype=np.float32, order="C", copy=True)
    array.flags.writeable = False
    return array


def first_tensor(values: Any) -> torch.Tensor | None:
    """Return a tensor, or the first one of a tuple of arguments or results."""
    if isinstance(values, torch.Tensor):
        return values
    items = values.values() if isinstance(values, dict) else values
    if not isinstance(values, dict | tuple | list):
        return None
    return next((item for item in items if isinstance(item, torch.Tensor)), None)


def probe_ids(network: Any) -> torch.Tensor:
    """Return a few token ids that every vocabulary has, `[1, 4]`, for a pass that tries things."""
    known = int(network.get_input_embeddings().num_embeddings)
    return torch.arange(4, device=network.device)[None] % known
