"""The speeds at which a network's rotary position encoding turns, for a text of a given length.

In most families the speeds are fixed. With longrope (Phi-3 128k; Ding et al., LongRoPE, 2024) there
are two sets: beyond a length, the switch, every token of the text is turned at the slower one. So
keys that were kept from a shorter text no longer fit, and the module's own `inv_freq` is that of
whatever pass ran last.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from engine.basics.arrays import Array
from engine.network.tensors import to_array


def length_switch(network: nn.Module) -> int | None:
    """Return the most tokens that are turned at the first set of speeds; None with one set."""
    for module in network.modules():
        if getattr(module, "rope_type", None) == "longrope":
            config: Any = module.config
            return int(config.rope_parameters["original_max_position_embeddings"])
    return None


def rotation_speeds(network: nn.Module, tokens: int) -> Array | None:
    """Return by how many radians each pair turns from one token to the next, `[R/2]`.

    They are the module's own, with any scaling for long contexts; None without RoPE. Where there
    are two sets, nothing else may run on the network meanwhile.

    Args:
        network: The network.
        tokens: How long the text is.
    """
    for module in network.modules():
        speeds = getattr(module, "inv_freq", None)
        if speeds is None:
            continue
        if getattr(module, "rope_type", None) == "longrope":
            # The module takes the set that fits the last position which it is asked for.
            with torch.inference_mode():
                last = torch.tensor([[max(tokens, 1) - 1]], device=speeds.device)
                module(torch.zeros(1, 1, 1, device=speeds.device), last)
        found: Any = module.inv_freq
        return to_array(found)
    return None
