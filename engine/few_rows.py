"""Matrix products over few rows, done fast on a CPU.

A cached decoding step multiplies every matrix of the model by one row (one new token), and checking
a draft of speculative decoding multiplies it by a handful. `torch.nn.functional.linear` takes two
to three times as long over 2 to 9 rows as over one, although reading the weights, which is what
such a step spends its time on, costs the same. Turned around, `weight @ x.T`, the same sum comes
nearer to the time of one row: 1.1 to 1.2 times for 2 to 4 rows, 1.5 for 5 and 2 for 8, since its
kernel takes four at a time. This makes checking drafts and decoding in batches cheaper on a CPU.
(Weights that oneDNN has packed for its own kernels are hardly faster, and would be another copy of
all of them.)

One row has a trick of its own. Where a matrix makes many numbers out of few (the LM head, the way
up in the feed-forward network), adding up its columns, each times one input, takes 0.55 to 0.65 of
the time of one dot product per row. For this the columns have to lie side by side, so such matrices
are kept a second time, turned: 325 MB for the default model.
"""

from __future__ import annotations

import torch
from torch import nn

MOST_ROWS = 16
"""Up to here the turned product wins; beyond it the usual one is as good or better."""

LEAST_BYTES = 1 << 20
"""Smaller matrices stay in the processor's cache, where their layout hardly matters."""

MOST_COPIED_BYTES = 512 << 20
"""How much memory the turned copies of one network may take; what comes later goes without."""


class FewRowsLinear(nn.Linear):
    """`nn.Linear` with the same weights and the same result, turned around for few rows."""

    columns: torch.Tensor | None = None
    """A turned copy of the weight, `[in, out]`, for one row; no part of the state dict."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Multiply `[..., in]` to `[..., out]`, equal to `nn.Linear` up to the order of the sum."""
        rows = input.numel() // self.in_features
        if rows == 1 and self.columns is not None:
            product = torch.mm(input.reshape(1, -1), self.columns)
            if self.bias is not None:
                product = product + self.bias
            return product.reshape(*input.shape[:-1], self.out_features)
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
    `use_stock_linear` takes it back. The weights must not change afterwards.
    """
    copied = 0
    for module in network.modules():
        # `type() is`: a subclass has a forward of its own, which must stay.
        if type(module) is not nn.Linear or not _is_cpu_float32(module.weight):
            continue
        module.__class__ = FewRowsLinear
        tall = module.out_features > module.in_features
        if tall and LEAST_BYTES <= module.weight.nbytes <= MOST_COPIED_BYTES - copied:
            module.columns = module.weight.detach().t().contiguous()
            copied += module.weight.nbytes


def use_stock_linear(network: nn.Module) -> None:
    """Undo `use_few_rows`."""
    for module in network.modules():
        if type(module) is FewRowsLinear:
            module.__dict__.pop("columns", None)
            module.__class__ = nn.Linear  # type: ignore[assignment]


def _is_cpu_float32(weight: torch.Tensor) -> bool:
    """Tell whether this is the case that was measured to gain."""
    return weight.device.type == "cpu" and weight.dtype == torch.float32
