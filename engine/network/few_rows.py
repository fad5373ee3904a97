"""Matrix products over few rows, done fast on a CPU.

A cached decoding step multiplies every matrix of the model by one row (one new token), and checking
a draft of speculative decoding multiplies it by a handful. Reading the weights is what such a step
spends its time on, and they are the same weights for one row as for five. Yet with
`torch.nn.functional.linear` a step over 2 to 9 rows takes twice as long as one over a single row.

Two ways around that, for 1 to 16 rows:

- A loop of this project (`engine.network.few_rows_kernel`) reads each row of the weight once and
  multiplies it by up to five rows of the input while it is at hand. Two rows take 1.1 times as
  long as one, five 1.2 and nine 1.5. It runs on one thread, and is as fast as torch on two.
- Where torch has more threads than that, it shares among them the product turned around,
  `weight @ x.T`. Its kernel takes four rows at a time.

Both make checking drafts and decoding in batches cheaper on a CPU.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import cast

import numpy as np
import torch
from torch import nn

log = logging.getLogger(__name__)

MOST_ROWS = 16
"""Up to here these products win; beyond it the usual one is as good or better."""

MOST_THREADS = 2
"""Up to here the loop on one thread wins over a product that torch shares among its threads."""


class FewRowsLinear(nn.Linear):
    """`nn.Linear` with the same weights and the same result, another way for few rows."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Multiply `[..., in]` to `[..., out]`, equal to `nn.Linear` up to the order of the sum."""
        rows = input.numel() // self.in_features
        if not 1 <= rows <= MOST_ROWS:
            return super().forward(input)
        few_threads = torch.get_num_threads() <= MOST_THREADS
        if few_threads and not torch.is_grad_enabled() and kernel() is not None:
            product = compiled_product(input, self.weight)
        elif rows > 1:
            product = turned_product(input, self.weight)
        else:
            return super().forward(input)
        return product if self.bias is None else product + self.bias


def turned_product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return `x @ weight.T`, computed as `(weight @ x.T).T`.

    Args:
        x: `[..., in]`, 1 to 16 rows in all.
        weight: `[out, in]`.

    Returns:
        `[..., out]`.
    """
    # The kernel wants x itself contiguous; a transposed copy of it is several times slower.
    flat = x.reshape(-1, x.shape[-1]).contiguous()
    return torch.mm(weight, flat.t()).t().reshape(*x.shape[:-1], len(weight))


@cache
def kernel() -> Callable[..., None] | None:
    """Return the compiled loop; None, said once in the log, where it can't be compiled.

    Numba compiles only if it may keep the result: beside the source, or in the user's cache.
    """
    try:
        # Here and not above: its compiler takes a second to load, and a start need not wait.
        from engine.network.few_rows_kernel import multiply
    except Exception as error:
        log.warning("Products over few rows take torch's slower way: %s", error)
        return None
    return cast("Callable[..., None]", multiply)


def compiled_product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return `x @ weight.T`, computed on one thread; no gradient flows through it.

    Args:
        x: `[..., in]`, float32.
        weight: `[out, in]`, float32, its rows side by side.

    Returns:
        `[..., out]`.
    """
    multiply = kernel()
    assert multiply is not None, "the caller has asked"
    outs, ins = weight.shape
    product = torch.empty(*x.shape[:-1], outs)
    rows = np.ascontiguousarray(x.detach().numpy().reshape(-1, ins))
    multiply(weight.detach().numpy(), rows, product.numpy().reshape(-1, outs))
    return product


def use_few_rows(network: nn.Module) -> None:
    """Let every plain float32 `nn.Linear` of a network on the CPU use the few-row products.

    Only the class of the module changes: parameters, hooks and state dict stay as they are, and
    `use_stock_linear` takes it back.
    """
    for module in network.modules():
        # `type() is`: a subclass has a forward of its own, which must stay.
        if type(module) is nn.Linear and _gains(module.weight):
            module.__class__ = FewRowsLinear


def use_stock_linear(network: nn.Module) -> None:
    """Undo `use_few_rows`."""
    for module in network.modules():
        if type(module) is FewRowsLinear:
            module.__class__ = nn.Linear  # type: ignore[assignment]


def _gains(weight: torch.Tensor) -> bool:
    """Tell whether this is the case that was measured to gain."""
    on_cpu = weight.device.type == "cpu" and weight.dtype == torch.float32
    return on_cpu and weight.is_contiguous()
