"""A norm on one vector, step by step: RMSNorm and LayerNorm of any family.

    RMSNorm     x / √(mean(x²) + ε) · weight
    LayerNorm   (x − mean(x)) / √(variance(x) + ε) · weight + bias

The steps are read off the module's own results, so no family's way to store its weights (Gemma
keeps them less 1) or its ε has to be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from engine.basics.arrays import Array, frozen
from engine.basics.errors import EngineError
from engine.basics.results import Result
from engine.network.tensors import to_array

if TYPE_CHECKING:
    import numpy.typing as npt

    from engine.model.model import LanguageModel


@dataclass(frozen=True, eq=False)
class NormSteps(Result):
    """What a norm does to one vector; arrays are `[D]`."""

    given: Array
    centred: bool
    """Whether the mean is taken off first (LayerNorm)."""
    mean: float
    """The mean that is taken off; 0 for RMSNorm."""
    divisor: float
    """The root mean square (LayerNorm: standard deviation) that every number is divided by, with
    the small ε that keeps it from 0."""
    divided: Array
    """`(given − mean) / divisor`."""
    weights: Array
    """The learned factor of each number."""
    bias: Array
    """Added at the end; zeros for RMSNorm."""
    output: Array
    """`divided · weights + bias`."""

    def part(self, vectors: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return parts of a sum as they come out of the norm, the divisor held fixed.

        Args:
            vectors: `[..., D]`; if they sum to `given`, what is returned sums to `output − bias`.
        """
        parts = vectors.astype(np.float64)
        if self.centred:
            parts = parts - parts.mean(axis=-1, keepdims=True)
        return parts / self.divisor * self.weights.astype(np.float64)

    def worth(self, row: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return what one of each number adds to a product with `row`, the divisor held fixed.

        Args:
            row: `[D]`; `part(x) @ row` equals `x @ worth(row)`, which is one product for many x.
        """
        worth: npt.NDArray[np.float64] = self.weights.astype(np.float64) * row / self.divisor
        return worth - worth.mean() if self.centred else worth


def norm_steps(model: LanguageModel, norm: Any, vector: Array) -> NormSteps:
    """Read off what a norm module does to one vector.

    Zeros give its bias. A vector of +1 and −1 in turn has mean 0 and root mean square 1, so it
    gives the weights. What is left open is one number for `vector`: the divisor.

    Args:
        model: The model that the module is part of.
        norm: The module.
        vector: `[D]`.

    Raises:
        EngineError: The module is no norm of a known kind.
    """
    width = len(vector)
    turns = np.where(np.arange(width) % 2 == 0, 1.0, -1.0)
    shift = vector + np.float32(np.abs(vector).max() + 1)
    zero, one, output, moved = _run(model, norm, np.stack([np.zeros(width), turns, vector, shift]))
    # Only a norm that takes the mean off gives the same when all numbers grow alike.
    centred = bool(np.allclose(moved, output, atol=1e-2 * np.abs(output).max()))
    mean = float(vector.mean(dtype=np.float64)) if centred else 0.0
    weights = (one - zero) / turns
    shaped = (vector.astype(np.float64) - mean) * weights
    factor = float(shaped @ (output - zero)) / max(float(shaped @ shaped), 1e-30)
    off = np.abs(shaped * factor + zero - output).max()
    if factor <= 0 or off > 1e-3 * max(1.0, float(np.abs(output).max())):
        raise EngineError(
            f"A norm of this model ({type(norm).__name__}) is of a kind that can't be shown step "
            "by step."
        )
    return NormSteps(
        given=frozen(vector),
        centred=centred,
        mean=mean,
        divisor=1 / factor,
        divided=frozen((vector.astype(np.float64) - mean) * factor),
        weights=frozen(weights),
        bias=frozen(zero),
        output=frozen(output),
    )


def _run(model: LanguageModel, norm: Any, vectors: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Run the module on `[N, D]`."""
    table = model.network.get_input_embeddings().weight
    with model.lock, torch.inference_mode():
        given = torch.tensor(vectors, device=table.device, dtype=table.dtype)
        return to_array(norm(given)).astype(np.float64)
