"""What each step costs: two lanes on one clock, and milliseconds a token as the context grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from components.kit.lanes import lanes
from components.kit.lines import lines
from components.kit.numbers import size
from components.kit.text import visible

if TYPE_CHECKING:
    from engine.kv_cache.step_costs import StepCost


def cost_lanes(costs: Sequence[StepCost], pieces: Sequence[bytes], *, key: str) -> go.Figure:
    """Return the same tokens with the cache and without it, on one clock."""
    kept = np.cumsum([cost.with_cache for cost in costs])
    afresh = np.cumsum([cost.without_cache for cost in costs])
    words = [
        f"token {cost.index + 1}: {visible(piece, limit=20)}"
        for cost, piece in zip(costs, pieces, strict=False)
    ]
    title = (
        f"{len(costs)} tokens: {kept[-1] / 1000:.1f} s with the KV cache, "
        f"{afresh[-1] / 1000:.1f} s without it, {afresh[-1] / kept[-1]:.1f} × as long"
    )
    names = ["with the cache", "without"]
    return lanes(names, [list(kept), list(afresh)], [words, words], title=title, key=key)


def cost_lines(costs: Sequence[StepCost], *, key: str) -> go.Figure:
    """Return the time of each step against what it attends to."""
    decode = [cost.with_cache for cost in costs[1:]] or [costs[0].with_cache]
    title = (
        f"Prefill of {costs[0].tokens} tokens: {costs[0].with_cache:.0f} ms, then "
        f"{float(np.median(decode)):.0f} ms a token"
    )
    return lines(
        {
            "with the cache": [cost.with_cache for cost in costs],
            "without": [cost.without_cache for cost in costs],
        },
        title=title,
        key=key,
        x_title="tokens that are attended to",
        y_title="milliseconds a step",
        positions=[cost.tokens for cost in costs],
    )


def cost_words(costs: Sequence[StepCost]) -> str:
    """Return what the measurement says beyond the pictures, as Markdown."""
    last = costs[-1]
    same = sum(cost.same_choice for cost in costs)
    differ = max(cost.difference for cost in costs)
    return (
        f"The cache holds {last.tokens:,} tokens in {size(last.cache_bytes)}, "
        f"{last.cache_bytes // last.tokens:,} bytes each. Both ways put the same token first in "
        f"{same} of {len(costs)} steps; their logits differ by {differ:.1e} at most. Measured "
        "here and now: other people's runs and other programs make both slower."
    )
