"""What a head does with queries and keys: scores `q·k · scale`, bounded and masked, then softmax.

In numpy, for the queries and keys that a trace has recorded. The network itself attends with
`engine.network.attention_kernels`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from engine.basics.arrays import Flags

Floats = TypeVar("Floats", npt.NDArray[np.float32], npt.NDArray[np.float64])


def attention_scores(
    q: Floats, k: Floats, scale: float, softcap: float | None = None, mask: Flags | None = None
) -> Floats:
    """Return what the softmax of each head gets, `[H, T, S]`, in the precision of `q`.

    Args:
        q: Queries after position encoding, `[H, T, K]`.
        k: Keys after position encoding, `[G, S, K]`; head h reads key head `h // (H/G)`.
        scale: Factor on `q·k`, usually `1/√K`.
        softcap: The bound c of `c·tanh(score/c)` (Gemma 2), or None.
        mask: True where a query may read a key, `[T, S]`; elsewhere the score is −inf.
    """
    heads, groups = q.shape[0], k.shape[0]
    # The heads of one group lie side by side, so they take their key head together.
    q_GNTK = q.reshape(groups, heads // groups, *q.shape[1:])
    dots_GNTS: Floats = q_GNTK @ k[:, None].swapaxes(-1, -2)
    scores_GNTS = scaled_scores(dots_GNTS, scale, softcap)
    if mask is not None:
        scores_GNTS = masked_scores(scores_GNTS, mask)
    scores_HTS: Any = scores_GNTS.reshape(heads, q.shape[1], k.shape[1])
    result: Floats = scores_HTS
    return result


def scaled_scores(dots: Floats, scale: float, softcap: float | None) -> Floats:
    """Return dot products `q·k` of any shape times the scale, bounded where there is a softcap."""
    scores: Floats = dots * scale
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    return scores


def masked_scores(scores: Floats, mask: Flags) -> Floats:
    """Return scores with −inf where the mask is False."""
    masked: Floats = np.where(mask, scores, scores.dtype.type(-np.inf))
    return masked


def attention_pattern(scores: Floats) -> Floats:
    """Return the softmax of masked scores over the keys: each row of `[..., T, S]` sums to 1."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    pattern: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return pattern
