"""The KV cache drawn: what it keeps, the work that it saves, its size, and a race without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit.arrays import Array
from components.kit.figure import token_labels
from components.kit.heatmap import heatmap
from components.kit.numbers import size as in_bytes
from components.kit.text import counted, markdown, visible

if TYPE_CHECKING:
    from engine.kv_cache.sizes import CacheSize
    from engine.kv_cache.step_costs import StepCost


def cache_figure(k: Array, pieces: Sequence[bytes], size: CacheSize, *, key: str) -> go.Figure:
    """Draw the cache as it is after the prompt: a row per token, a column per layer.

    Args:
        k: keys, `[L, G, T, K]`; a cell's colour is their length.
        pieces: the tokens' bytes.
        size: of the model.
        key: the chart's key.
    """
    lengths = np.sqrt((k.astype(np.float64) ** 2).sum(axis=(1, 3))).T
    tokens, layers = lengths.shape
    return heatmap(
        lengths,
        token_labels(pieces),
        [str(layer) for layer in range(layers)],
        title=f"The cache after the prompt: {tokens} rows in each of {layers} layers, "
        f"{tokens * size.per_token:,} bytes",
        key=key,
        low=0.0,
        high=float(lengths.max()),
        row_name="token",
        col_name="layer",
        value_name="length of its keys:",
        number_format=".1f",
        height=int(np.clip(150 + 22 * tokens, 280, 520)),
    )


def work_words(tokens: int, steps: int) -> str:
    """Say how many scores a head computes with the cache and without it.

    Args:
        tokens: of the prompt.
        steps: tokens that are written after it.
    """
    triangle = tokens * (tokens + 1) // 2
    cached = triangle + sum(tokens + i for i in range(1, steps))
    plain = sum((tokens + i) * (tokens + i + 1) // 2 for i in range(steps))
    return (
        f"**Prefill** reads the {counted(tokens, 'token')} of the prompt at once: a triangle of "
        f"{triangle:,} scores in every head. Each **decode** step then computes one row of scores, "
        f"a strip as long as the text so far. For {steps} new tokens a head computes "
        f"{cached:,} scores with the cache and {plain:,} without it, "
        f"{plain / max(cached, 1):.1f} times as many; the vectors of all "
        "earlier tokens would be computed anew as well."
    )


def work_figure(tokens: int, steps: int, *, key: str) -> go.Figure:
    """Draw which scores are computed when: the prompt's triangle, then a strip a step."""
    total = tokens + steps - 1
    when = np.full((total, total), np.nan)
    for row in range(total):
        when[row, : row + 1] = max(0, row - tokens + 1)
    labels = [str(i) if i % 5 == 0 else "" for i in range(total)]
    figure = heatmap(
        when,
        labels,
        labels,
        title=f"Prefill: a triangle of {tokens} rows; then one row per step",
        key=key,
        low=0.0,
        high=float(max(1, steps - 1)),
        row_name="token",
        col_name="reads",
        value_name="computed in step",
        number_format=".0f",
        height=340,
    )
    figure.update_xaxes(tickangle=0)
    figure.data[0].colorbar.update(title="step")
    return figure


def size_rows(own: CacheSize, known: Sequence[CacheSize], context: int) -> list[dict[str, str]]:
    """Return a table of cache sizes: this model measured, well-known ones by formula.

    Args:
        own: the running model.
        known: others.
        context: tokens of the last two columns.
    """
    return [
        {
            "model": markdown(size.name),
            "layers × KV heads × K": f"{size.layers} × {size.kv_heads} × {size.head_size}",
            "query heads": str(size.heads),
            "number": size.dtype,
            "one token": f"{size.per_token:,} bytes",
            "without sharing": f"{size.per_token_without_sharing:,} bytes",
            f"{context:,} tokens": in_bytes(size.per_token * context),
            f"{context:,} without sharing": in_bytes(size.per_token_without_sharing * context),
        }
        for size in (own, *known)
    ]


def show_race(costs: Sequence[StepCost]) -> None:
    """Write what the race shows: how much longer it takes, same tokens, how near the logits are."""
    worst = max(cost.difference for cost in costs)
    same = sum(cost.same_choice for cost in costs)
    last, later = costs[-1], costs[1:]
    if later:
        kept = sum(cost.with_cache for cost in later)
        ratio = sum(cost.without_cache for cost in later) / max(kept, 1e-9)
        st.markdown(
            f"After the prefill the steps without the cache took **{ratio:.1f} times as long**; "
            f"at {counted(last.tokens, 'token')} {last.without_cache:.0f} ms instead of "
            f"{last.with_cache:.0f} ms. **{same} of {len(costs)}** tokens are the same; no logit "
            f"differs by more than **{worst:.1e}**."
        )


def race_table(costs: Sequence[StepCost], bytes_of: Callable[[int], bytes]) -> None:
    """Draw the steps of the race as a table, which needs the width of the page."""
    with st.container(key="race_table"):
        st.dataframe(
            [
                {
                    "step": f"decode {cost.index}" if cost.index else "prefill",
                    "rows in every layer": cost.tokens,
                    "rows added": 1 if cost.index else cost.tokens,
                    "cache": f"{cost.cache_bytes:,} bytes",
                    "with, ms": round(cost.with_cache, 1),
                    "without, ms": round(cost.without_cache, 1),
                    "next token": visible(bytes_of(cost.best_id)),
                    "same": "yes" if cost.same_choice else "no",
                    "largest difference": f"{cost.difference:.1e}",
                }
                for cost in costs
            ],
            hide_index=True,
            height=240,
        )
