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
from engine.basics.attention_scores import attention_pattern, attention_scores
from engine.basics.errors import check_index
from engine.basics.results import Table
from engine.network.architecture import output_rows
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


def head_attribution(trace: Trace, token_id: int, position: int = -1) -> Array:
    """Split what attention adds to one token's score by head and token that is read, `[L, H, S]`.

    Of a layer the terms sum to that layer's `Attribution.attention`, but for a bias that is
    added once for all heads; in a model that norms what attention adds (Gemma 2) they are taken
    before that norm, and only tell the heads apart.

    Args:
        trace: The traced pass.
        token_id: The token that is scored.
        position: The position that is read; negative counts from the end.

    Raises:
        EngineError: There is no such token or position, or the final norm is of an unknown kind.
    """
    token_id = check_index("token id", token_id, trace.architecture.vocabulary)
    position = trace.position_index(position)
    row_D = to_array(trace.model.network.get_output_embeddings().weight[token_id])
    final = trace.resid_post.at(position)[-1]
    norm = norm_steps(trace.model, trace.model.sites.final_norm, final)
    heads, groups = trace.architecture.heads, trace.v.shape[1]
    worth_D = norm.worth(row_D).astype(np.float32)
    found = np.zeros((trace.architecture.layers, heads, len(trace.ids)))
    for layer in range(len(found)):
        scores_H1S = attention_scores(
            trace.q[layer][:, [position]],
            trace.k[layer],
            trace.scales[layer],
            trace.softcaps[layer],
            trace.masks[layer][[position]],
        )
        shares_HS = attention_pattern(scores_H1S)[:, 0]
        values_HSK = np.repeat(trace.v[layer], heads // groups, axis=0)
        rows = to_array(output_rows(trace.model.sites.layers[layer].mix))
        # What one number of a head's mixed value adds to the score.
        worth_HK = (rows @ worth_D).reshape(heads, -1)
        found[layer] = np.einsum("hs,hsk,hk->hs", shares_HS, values_HSK, worth_HK)
    return frozen(found)


def telling_head(trace: Trace) -> tuple[int, int]:
    """Choose the layer and head that add most to the likeliest next token by reading other words.

    What is read from the first token, where heads rest, and from the last token itself does not
    count, where there are others.
    """
    terms = head_attribution(trace, int(trace.logits.argmax()))
    others = terms[:, :, 1:-1] if terms.shape[-1] > 2 else terms
    sums = others.sum(axis=-1)
    layer, head = divmod(int(sums.argmax()), sums.shape[1])
    return layer, head
