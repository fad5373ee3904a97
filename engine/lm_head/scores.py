"""The LM head: one token's score as a dot product.

The last vector of the residual stream goes through the final norm and is multiplied by the head's
matrix: one dot product, which is one score (logit), per token of the vocabulary. The softmax turns
the scores into probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array, frozen
from engine.basics.errors import check_index
from engine.basics.results import Table
from engine.network.tensors import to_array
from engine.tracing import replay

if TYPE_CHECKING:
    from engine.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class LogitTerms(Table):
    """One score with the terms of its dot product."""

    columns = ("hidden", "weights", "products")
    axes = ("entry",)

    token_id: int
    hidden: Array
    """The residual stream after the final norm, `[D]`."""
    weights: Array
    """The token's row of the head's matrix, `[D]`."""
    products: Array
    """`hidden * weights`, `[D]`."""
    bias: float
    """The head's bias for this token; zero in most families."""
    dot: float
    """The sum of the products and the bias."""
    softcap: float | None
    """The bound c of `c·tanh(dot/c)` (Gemma 2), or None."""
    logit: float
    """The score that the model gives: `dot`, unless a family bounds or scales it."""


def logit_terms(trace: Trace, token_id: int, position: int = -1) -> LogitTerms:
    """Return the terms of one token's score after one position.

    Args:
        trace: The traced pass.
        token_id: The token that is scored.
        position: The position that is read; negative counts from the end.

    Raises:
        EngineError: There is no such token or position.
    """
    network = trace.model.network
    token_id = check_index("token id", token_id, trace.architecture.vocabulary)
    position = trace.position_index(position)
    hidden = replay.run_final_norm(trace.model, trace.resid_post.at(position)[-1:])
    head = network.get_output_embeddings()
    weights = to_array(head.weight[token_id])
    bias = 0.0 if getattr(head, "bias", None) is None else float(head.bias[token_id])
    products = hidden[0] * weights
    softcap = getattr(network.config.get_text_config(), "final_logit_softcapping", None)
    return LogitTerms(
        token_id=token_id,
        hidden=frozen(hidden[0]),
        weights=weights,
        products=frozen(products),
        bias=bias,
        dot=float(products.sum(dtype=np.float64)) + bias,
        softcap=None if softcap is None else float(softcap),
        logit=float(trace.logits_at(position)[token_id]),
    )
