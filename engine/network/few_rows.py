"""Matrix products over few rows, done fast on a CPU, and the same for a row whoever stands by.

A cached decoding step multiplies every matrix of the model by one row (one new token), checking
a draft of speculative decoding multiplies it by a handful, and a step for a class of people by one
row for each of them. Reading the weights is what such a step spends its time on, and they are the
same weights for one row as for thirty. Yet with `torch.nn.functional.linear` a step over four rows
takes twice as long as one over a single row.

A loop of this project (`engine.network.few_rows_kernel`) reads each piece of the weight once and
multiplies it by all rows of the input while it is at hand. On one thread five rows take 1.1 times
as long as one and thirty three times as long.

**The promise.** From 1 to `MOST_ROWS` rows, without gradients, each row of the result is bit for
bit what it is when that row is multiplied alone: its sums are taken in the same order whatever
other rows stand beside it, how many they are and in which shape they come. So what one person's
run gives can't depend on who else writes in the same step. Torch keeps that promise neither for
`F.linear` nor for `torch.mm`. It does keep it for what else a block does to a row: the norms, RoPE,
softmax and attention of a batch of single tokens, additions, and the activations, these only if
their width is a multiple of the numbers in a register (32 is enough; else the last ones of a row
are computed by another function when they stand at the end). tests/engine/network/test_same_rows.py
watches all of this.

Where the loop can't be compiled, torch's products take its place, without that promise.
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

MOST_ROWS = 64
"""Up to here the loop is as fast as torch's product or faster."""

MOST_TURNED_ROWS = 16
"""Up to here torch's product turned around is faster than the usual one."""


class FewRowsLinear(nn.Linear):
    """`nn.Linear` with the same weights and the same result, another way for few rows."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Multiply `[..., in]` to `[..., out]`, equal to `nn.Linear` up to the order of the sum."""
        rows = input.numel() // self.in_features
        if not 1 <= rows <= MOST_ROWS:
            return super().forward(input)
        if not torch.is_grad_enabled() and kernel() is not None:
            product = compiled_product(input, self.weight)
        elif 1 < rows <= MOST_TURNED_ROWS:
            product = turned_product(input, self.weight)
        else:
            return super().forward(input)
        return product if self.bias is None else product + self.bias


def turned_product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return `x @ weight.T`, computed as `(weight @ x.T).T`: torch then takes four rows at a time.

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
    """Return `x @ weight.T`, each row as it is alone; no gradient flows through it.

    Args:
        x: `[..., in]`, float32, any number of rows in all.
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
