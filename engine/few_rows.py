"""Matrix products over few rows, done fast on a CPU.

A cached decoding step multiplies every matrix of the model by one row (one new token), and checking
a draft of speculative decoding multiplies it by a handful. `torch.nn.functional.linear` takes two
to three times as long over 2 to 9 rows as over one, although reading the weights, which is what
such a step spends its time on, costs the same. Turned around, `weight @ x.T`, the same sum is
nearly as fast as over one row. This makes checking drafts and decoding in batches pay on a CPU.
"""

from __future__ import annotations

import torch
from torch import nn

MOST_ROWS = 16
"""Up to here the turned product wins; beyond it the usual one is as good or better."""


class FewRowsLinear(nn.Linear):
    """`nn.Linear` with the same weights and the same result, turned around for few rows."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Multiply `[..., in]` to `[..., out]`, equal to `nn.Linear` up to the order of the sum."""
        rows = input.numel() // self.in_features
        if not 1 < rows <= MOST_ROWS:
            return super().forward(input)
        return few_rows_product(input, self.weight, self.bias)


def few_rows_product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Return `x @ weight.T + bias`, computed as `(weight @ x.T).T`.

    Args:
        x: `[..., in]`, 1 to 16 rows in all.
        weight: `[out, in]`.
        bias: `[out]`, or None.

    Returns:
        `[..., out]`.
    """
    # The kernel wants x itself contiguous; a transposed copy of it is several times slower.
    flat = x.reshape(-1, x.shape[-1]).contiguous()
    product = torch.mm(weight, flat.t()).t()
    if bias is not None:
        product = product + bias
    return product.reshape(*x.shape[:-1], weight.shape[0])


def use_few_rows(network: nn.Module) -> None:
    """Let every plain float32 `nn.Linear` of a network on the CPU use the few-row product.

    Only the class of the module changes: parameters, hooks and state dict stay as they are, and
    `use_stock_linear` takes it back.
    """
    for module in network.modules():
        # `type() is`: a subclass has a forward of its own, which must stay.
        if type(module) is nn.Linear and _is_cpu_float32(module.weight):
            module.__class__ = FewRowsLinear


def use_stock_linear(network: nn.Module) -> None:
    """Undo `use_few_rows`."""
    for module in network.modules():
        if type(module) is FewRowsLinear:
            module.__class__ = nn.Linear  # type: ignore[assignment]


def _is_cpu_float32(weight: torch.Tensor) -> bool:
    """Tell whether this is the case that was measured to gain."""
    return weight.device.type == "cpu" and weight.dtype == torch.float32
