"""What each step costs: measured on one clock and per token, and counted by formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.figure import frame, packed
from components.kit.lanes import lanes
from components.kit.lines import lines
from components.kit.numbers import percent, size
from components.kit.text import counted, visible

if TYPE_CHECKING:
    from engine.kv_cache.step_costs import StepCost
    from engine.kv_cache.step_work import StepWork


def cost_lanes(costs: Sequence[StepCost], pieces: Sequence[bytes], *, key: str) -> go.Figure:
    """Return the same tokens with the cache and without it, on one clock."""
    kept = np.cumsum([cost.with_cache for cost in costs])
    afresh = np.cumsum([cost.without_cache for cost in costs])
    words = [
        f"token {cost.index + 1}: {visible(piece, limit=20)}"
        for cost, piece in zip(costs, pieces, strict=False)
    ]
    title = (
        f"{counted(len(costs), 'token')}: {kept[-1] / 1000:.1f} s with the KV cache, "
        f"{afresh[-1] / 1000:.1f} s without it, {afresh[-1] / kept[-1]:.1f} × as long"
    )
    names = ["with the cache", "without"]
    return lanes(names, [list(kept), list(afresh)], [words, words], title=title, key=key)


def cost_lines(costs: Sequence[StepCost], *, key: str) -> go.Figure:
    """Return the time of each step against what it attends to."""
    decode = [cost.with_cache for cost in costs[1:]] or [costs[0].with_cache]
    title = (
        f"Prefill of {counted(costs[0].tokens, 'token')}: {costs[0].with_cache:.0f} ms, then "
        f"{float(np.median(decode)):.0f} ms per token"
    )
    return lines(
        {
            "with the cache": [cost.with_cache for cost in costs],
            "without": [cost.without_cache for cost in costs],
        },
        title=title,
        key=key,
        x_title="tokens that are attended to",
        y_title="milliseconds per step",
        positions=[cost.tokens for cost in costs],
    )


def cost_words(costs: Sequence[StepCost]) -> str:
    """Return what the measurement says beyond the pictures, as Markdown."""
    last = costs[-1]
    same = sum(cost.same_choice for cost in costs)
    differ = max(cost.difference for cost in costs)
    return (
        f"The cache holds {counted(last.tokens, 'token')} in {size(last.cache_bytes)}, "
        f"{last.cache_bytes // last.tokens:,} bytes each. Both ways put the same token first in "
        f"{same} of {counted(len(costs), 'step')}; their logits differ by {differ:.1e} at most. "
        "Measured here and now: other people's runs and other programs make both slower."
    )


def work_figure(work: StepWork, tokens: int, context: int, *, key: str) -> go.Figure:
    """Return what a step computes as the text grows: the matrices, and attention on top of them.

    Args:
        work: of the running model.
        tokens: of the text so far, marked by a line.
        context: the longest text, in tokens.
        key: the chart's key.
    """
    share = work.attention(tokens) / (work.matrices + work.attention(tokens))
    title = (
        f"With the cache, at {tokens:,} tokens attention is {percent(share)} of a step’s "
        "multiplications; the matrices’ part never grows"
    )
    figure = frame(title, height=330, revision=key)
    x = np.linspace(1, context, 60)
    series = (
        ("matrices: the same at each step, O(1)", np.full(len(x), work.matrices), theme.ACCENT),
        ("attention: grows with the text, O(n)", x * work.per_token, theme.ATTENTION),
    )
    for name, values, colour in series:
        figure.add_trace(
            go.Scatter(
                x=packed(x),
                y=packed(values / 1e6),
                name=name,
                mode="lines",
                stackgroup="work",
                line={"color": colour, "width": 2},
                fillcolor=theme.with_alpha(colour, 0.35),
                hovertemplate=f"{name}<br>%{{x:,.0f}} tokens: %{{y:,.0f}} million<extra></extra>",
            )
        )
    figure.add_vline(x=tokens, line={"color": theme.PICKED, "width": 3, "dash": "dot"})
    figure.add_annotation(
        x=tokens,
        y=1,
        yref="paper",
        text="this text",
        showarrow=False,
        xanchor="left",
        xshift=6,
        yanchor="top",
        font={"size": 13, "color": theme.TEXT},
    )
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.25, "yanchor": "top"})
    figure.update_xaxes(title="tokens of the text", range=[0, context], showgrid=False)
    figure.update_yaxes(title="million multiplications per step", rangemode="tozero")
    return figure


def work_words(work: StepWork, tokens: int, context: int) -> str:
    """Say as Markdown what the picture means, and what a step would take without the cache."""
    where = (
        f"from {work.equal_at:,} tokens on attention takes more than the matrices"
        if work.equal_at <= context
        else f"up to its longest text of {context:,} tokens attention stays the smaller part"
    )
    return (
        "A step reads one new token. Every matrix is multiplied with its one vector, however long "
        "the text is: **O(1)**. In attention that token looks at all n tokens so far: **O(n)**. "
        f"In this model {where}. Without the cache the matrices would read all {tokens:,} tokens "
        f"again, {tokens:,} times the blue part; attention would compute every row of scores anew."
    )
