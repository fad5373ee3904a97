"""The peer of every ratio: the same weights as transformers itself loads and runs them."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from engine.model.weights import default_folder

PROMPT = (
    "The history of computing is a long one, and it does not begin with machines. People counted "
    "on their fingers, with pebbles, with knots in cords, and later with beads on wires. "
)


def stock_network() -> Any:
    """Return the default model as transformers loads it: sdpa attention, nothing swapped in."""
    folder = default_folder(lambda _: None)
    network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return network.eval().requires_grad_(False)


def some_ids(encode: Any, count: int) -> list[int]:
    """Return `count` token ids of ordinary text."""
    ids = [token.id for token in encode(PROMPT * (count // 30 + 1))]
    return ids[:count]
