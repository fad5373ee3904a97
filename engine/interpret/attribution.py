"""Direct logit attribution: how much did each part of the model raise a token's score?

The last vector is a sum: the embedding and what every attention and feed-forward network added.
The final norm divides it by one number and the LM head is a dot product. With that number held
fixed, the score is a sum too, with one term per part. A term is only the part's direct effect: what
it changed in later parts is counted there.
Source: Elhage et al., A Mathematical Framework for Transformer Circuits (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array, frozen
from engine.basics.errors import check_index
from engine.basics.results import Table
from engine.network.tensors import to_array
from engine.tracing.norms import norm_steps

if TYPE_CHECKING:
    from engine.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class Attribution(Table):
    """One token's score after one position, as a sum over the parts of the model."""

    columns = ("attention", "mlp")
    axes = ("layer",)

    token_id: int
    position: int
    embedded: float
    """The term of the embedding, with learned positions if the model has them."""
    attention: Array
    """`[L]`, the term of each layer's attention."""
    mlp: Array
    """`[L]`, the term of each layer's feed-forward network."""
    constant: float
    """The term of the biases of final norm and LM head, the same for every input."""
    total: float
    """The sum of all terms."""
    dot: float
    """The score as the model's own norm and head give it, before a softcap (Gemma 2)."""


def attribution(trace: Trace, token_id: int, position: int = -1) -> Attribution:
    """Split one token's score after one position among the parts of the model.

    Args:
        trace: The traced pass.
        token_id: The token that is scored.
        position: The position that is read; negative counts from the end.

    Raises:
        EngineError: There is no such token or position, or the final norm is of an unknown kind.
    """
    token_id = check_index("token id", token_id, trace.architecture.vocabulary)
    position = trace.position_index(position)
    head = trace.model.network.get_output_embeddings()
    row = to_array(head.weight[token_id]).astype(np.float64)
    bias = 0.0 if getattr(head, "bias", None) is None else float(head.bias[token_id])
    final = trace.resid_post.at(position)[-1]
    norm = norm_steps(trace.model, trace.model.sites.final_norm, final)
    embedded = float(norm.part(trace.embedded[position]) @ row)
    attention = norm.part(trace.attn_out[:, position]) @ row
    mlp = norm.part(trace.mlp_out[:, position]) @ row
    constant = float(norm.bias @ row) + bias
    return Attribution(
        token_id=token_id,
        position=position,
        embedded=embedded,
        attention=frozen(attention),
        mlp=frozen(mlp),
        constant=constant,
        total=embedded + float(attention.sum() + mlp.sum()) + constant,
        dot=float(norm.output.astype(np.float64) @ row) + bias,
    )
