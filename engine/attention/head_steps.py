"""One attention head, step by step: from its queries to what it adds to the residual stream.

    resid_pre -> norm -> q, k, v -> position encoding -> q·k -> scale -> causal mask -> softmax
              -> pattern -> pattern @ v -> W_O -> the head's part of attn_out

Every step comes from the traced pass, and each can be shown by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array, frozen
from engine.basics.attention_scores import attention_pattern, masked_scores, scaled_scores
from engine.basics.results import Result
from engine.network.architecture import output_rows
from engine.network.tensors import to_array

if TYPE_CHECKING:
    from engine.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class HeadSteps(Result):
    """One head at work on the whole prompt."""

    layer: int
    head: int
    kv_head: int
    """The key/value head that it reads, `head // (H/G)`."""
    q_raw: Array
    """Queries before position encoding, `[T, K]`."""
    q: Array
    """Queries after position encoding, `[T, K]`; the same as `q_raw` in a model without RoPE."""
    k_raw: Array
    """Keys before position encoding, `[S, K]`."""
    k: Array
    """Keys after position encoding, `[S, K]`."""
    dots: Array
    """`q·k` of every pair, also of pairs that the mask hides, `[T, S]`."""
    scaled: Array
    """`dots · scale`, bounded where there is a softcap, `[T, S]`."""
    scale: float
    """Factor on `dots`, usually `1/√K`."""
    softcap: float | None
    """The bound c of `c·tanh(score/c)` (Gemma 2), or None."""
    masked: Array
    """`scaled`, with −inf where the mask forbids reading, `[T, S]`."""
    pattern: Array
    """The softmax of `masked`, `[T, S]`; each row sums to 1."""
    v: Array
    """Values, `[S, K]`."""
    mixed: Array
    """`pattern @ v`: what each token has read, `[T, K]`."""
    output: Array
    """`mixed` through the head's rows of W_O: the head's part of `attn_out`, `[T, D]`, without
    the bias that some families add once for all heads, and before a norm that follows (Gemma 2)."""


def head_steps(trace: Trace, layer: int, head: int) -> HeadSteps:
    """Return every step of one head.

    Args:
        trace: The traced pass; of an edited pass, the steps are those before the knock-out.
        layer: The layer.
        head: The query head.

    Raises:
        EngineError: There is no such layer or head.
    """
    layer = trace.layer_index(layer)
    head = trace.head_index(head)
    kv_head = trace.kv_head(head)
    q_HTK, k_GTK = trace.unrotated(layer)
    q, k, v = trace.q[layer, head], trace.k[layer, kv_head], trace.v[layer, kv_head]
    dots_TS = q @ k.T
    scale, softcap = trace.scales[layer], trace.softcaps[layer]
    scaled_TS = scaled_scores(dots_TS, scale, softcap)
    masked_TS = masked_scores(scaled_TS, trace.masks[layer])
    pattern_TS = attention_pattern(masked_TS)
    mixed_TK = pattern_TS @ v
    size = v.shape[-1]
    rows = output_rows(trace.model.sites.layers[layer].mix)
    rows_KD = to_array(rows[head * size : (head + 1) * size])
    return HeadSteps(
        layer=layer,
        head=head,
        kv_head=kv_head,
        q_raw=frozen(q_HTK[head]),
        q=frozen(q),
        k_raw=frozen(k_GTK[kv_head]),
        k=frozen(k),
        dots=frozen(dots_TS),
        scaled=frozen(scaled_TS),
        scale=scale,
        softcap=softcap,
        masked=frozen(masked_TS),
        pattern=frozen(pattern_TS),
        v=frozen(v),
        mixed=frozen(mixed_TK),
        output=frozen(mixed_TK @ rows_KD),
    )


def head_outputs(trace: Trace, layer: int, position: int) -> Array:
    """Return what each head of a layer adds to one token, `[H, D]` (see `HeadSteps.output`).

    A negative position counts from the end.

    Raises:
        EngineError: There is no such layer or position.
    """
    layer = trace.layer_index(layer)
    position = trace.position_index(position)
    heads, groups = trace.architecture.heads, trace.v.shape[1]
    shares_HS = trace.pattern(layer)[:, position]
    values_HSK = np.repeat(trace.v[layer], heads // groups, axis=0)
    mixed_HK = np.einsum("hs,hsk->hk", shares_HS, values_HSK)
    rows = to_array(output_rows(trace.model.sites.layers[layer].mix))
    return frozen(np.einsum("hk,hkd->hd", mixed_HK, rows.reshape(heads, -1, rows.shape[-1])))
