"""Ways to attend that transformers' own function lacks: a mask without copies, bounded scores."""

from __future__ import annotations

import torch
from torch.nn import functional


def masked_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    scale: float,
    dropout: float = 0.0,
) -> torch.Tensor:
    """Attend with a mask, the keys and values of a group read where they lie.

    Where there is a mask, transformers copies them for each query head of the group. Some GPUs need
    that; on a CPU it takes longer than to attend, when few tokens follow a cache.

    Args:
        query: `[B, H, T, K]`.
        key: `[B, G, S, K]`; head h reads key/value head `h // (H/G)`.
        value: `[B, G, S, K]`.
        mask: True where a token may be read, `[B, 1, T, S]`.
        scale: Factor on `q·k`.
        dropout: Probability of training-time dropout.

    Returns:
        `[B, T, H, K]`, contiguous.
    """
    output = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, dropout_p=dropout, scale=scale, enable_gqa=True
    )
    return output.transpose(1, 2).contiguous()


def softcapped_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float,
    softcap: float,
) -> torch.Tensor:
    """Attend with bounded scores, `softmax(c·tanh(q·k·scale/c)) v` (Gemma 2).

    Args:
        query: `[B, H, T, K]`.
        key: `[B, G, S, K]`; head h reads key/value head `h // (H/G)`.
        value: `[B, G, S, K]`.
        mask: True where a token may be read, `[B, 1, T, S]`; None means causal.
        scale: Factor on `q·k`.
        softcap: The bound c.

    Returns:
        `[B, T, H, K]`, contiguous.
    """
    groups = query.shape[1] // key.shape[1]
    key, value = (part.repeat_interleave(groups, dim=1) for part in (key, value))
    scores_BHTS = query @ key.transpose(2, 3) * scale
    scores_BHTS = torch.tanh(scores_BHTS / softcap) * softcap
    if mask is None and query.shape[2] > 1:
        tokens, keys = query.shape[2], key.shape[2]
        mask = torch.ones(tokens, keys, dtype=torch.bool, device=query.device).tril()
    if mask is not None:
        scores_BHTS = scores_BHTS.masked_fill(~mask, float("-inf"))
    pattern_BHTS = scores_BHTS.softmax(dim=-1, dtype=torch.float32).to(query.dtype)
    return (pattern_BHTS @ value).transpose(1, 2).contiguous()
