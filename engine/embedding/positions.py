"""Sinusoidal and learned positions, the alternatives to RoPE (`engine.embedding.rope`).

Sinusoidal: a fixed wave per entry is added to the embedding. Learned: a row of a second table, one
per position, is added to the embedding. Sources: Vaswani et al., Attention Is All You Need (2017);
Radford et al., GPT-2 (2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.basics.arrays import Array, frozen
from engine.basics.errors import EngineError, check_index
from engine.network.tensors import to_array

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


def sinusoidal(positions: Sequence[int], width: int) -> Array:
    """Return the vectors that sinusoidal encoding adds, `[T, D]`.

    Entry 2i is `sin(p / 10000^(2i/D))`, entry 2i+1 the cosine of the same.
    """
    speeds = 10_000.0 ** (-2 * np.arange((width + 1) // 2) / width)
    angle = np.asarray(positions, dtype=np.float64)[:, None] * speeds
    vectors = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(len(angle), -1)
    return frozen(vectors[:, :width])


def learned_rows(model: LanguageModel, positions: Sequence[int]) -> Array:
    """Return the model's own position vectors, `[T, D]`.

    Raises:
        EngineError: The model has no learned positions, or none for one of these.
    """
    table, offset = _learned_table(model)
    rows = [check_index("position", p, table.shape[0] - offset) + offset for p in positions]
    return to_array(table[rows])


def _learned_table(model: LanguageModel) -> tuple[Any, int]:
    """Return the position table, and how many rows stand before that of position 0 (OPT: 2)."""
    context, inputs = model.architecture.context, model.network.get_input_embeddings()
    if model.architecture.positions == "learned":
        for module in model.network.modules():
            rows = getattr(module, "num_embeddings", 0)
            if module is not inputs and rows >= context:
                return module.weight, int(getattr(module, "offset", 0))
    raise EngineError(
        f"The model “{model.name}” has no table of positions: it knows order in another way."
    )
