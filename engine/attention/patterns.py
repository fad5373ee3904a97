"""Attention patterns of a trace: one cell as a sum, the kind of each head, small pictures of all.

A head's pattern says which earlier tokens each token reads. It does not say why, nor how much what
is read matters for the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array, Ids, frozen, frozen_ids
from engine.basics.attention_scores import attention_pattern, attention_scores, scaled_scores
from engine.basics.distribution import largest
from engine.basics.results import Result, Table

if TYPE_CHECKING:
    import numpy.typing as npt

    from engine.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class ScoreTerms(Table):
    """One cell of a head's pattern: how its score comes about, term by term."""

    columns = ("q", "k", "products")
    axes = ("entry",)

    q: Array
    """The query after position encoding, `[K]`."""
    k: Array
    """The key after position encoding, `[K]`."""
    products: Array
    """`q * k`, `[K]`."""
    order: Ids
    """`[K]`, the entries with the largest products (of either sign) first."""
    kv_head: int
    """Which key/value head the key belongs to: `head // (H/G)`."""
    dot: float
    """The sum of the products."""
    scale: float
    """Factor on the sum, usually `1/√K`."""
    softcap: float | None
    """The bound c of `c·tanh(score/c)` (Gemma 2), or None."""
    score: float
    """`dot · scale`, bounded if there is a softcap: the input of the softmax unless masked."""
    masked: bool
    """Whether the mask hides the key, because it comes later or before the sliding window."""
    probability: float
    """The cell of the pattern; 0 where masked."""


@dataclass(frozen=True, eq=False)
class HeadScores(Table):
    """How much each head reads in known ways: `[L, H]`, shares of attention from 0 to 1."""

    columns = ("previous", "first", "same", "induction")
    axes = ("layer", "head")

    previous: Array
    """Mean over all but the first query: attention on the token just before."""
    first: Array
    """Mean over all but the first query: attention on the first token (an attention sink)."""
    same: Array
    """Mean over queries whose token occurred before: attention on those earlier occurrences."""
    induction: Array
    """Mean over queries whose token occurred before and was followed by something: attention on the
    tokens that followed. After the idea of Olsson et al., In-context Learning and Induction Heads
    (2022), who measure it on repeated random tokens."""
    repeats: int
    """How many queries `same` is a mean over; if none, `same` is 0."""
    followed: int
    """How many queries `induction` is a mean over; if none, `induction` is 0."""


@dataclass(frozen=True, eq=False)
class PatternOverview(Result):
    """Small pictures of all heads' patterns."""

    maps: npt.NDArray[np.uint8]
    """`[L, H, n, n]`, 0 to 255 for 0 to 1: how much of its attention a query of the row's tokens
    gives to the column's tokens, on average. Every row sums to 255, up to rounding. If the first
    token is left out, the first row sums to less, because that token has nothing else to read."""
    edges: Ids
    """`[n+1]`: row and column i stand for the tokens `edges[i]` to `edges[i+1] - 1`."""


@dataclass(frozen=True, eq=False)
class Readers(Table):
    """How much each head lets one token read another."""

    columns = ("shares",)
    axes = ("layer", "head")

    query: int
    """The position that reads."""
    key: int
    """The position that is read."""
    shares: Array
    """`[L, H]`, the reader's attention on the token that is read; 0 where the mask hides it."""
    order: Ids
    """`[L·H]`, `layer · H + head` of all heads, the largest share first."""


def score_terms(trace: Trace, layer: int, head: int, query: int, key: int) -> ScoreTerms:
    """Return the terms of how much one token reads another in one head.

    Args:
        trace: The traced pass.
        layer: The layer.
        head: The query head.
        query: The position that reads; negative counts from the end.
        key: The position that is read; negative counts from the end.

    Raises:
        EngineError: There is no such layer, head or position.
    """
    layer = trace.layer_index(layer)
    head = trace.head_index(head)
    query = trace.position_index(query, "query position")
    key = trace.position_index(key, "key position")
    kv_head = trace.kv_head(head)
    q, k = trace.q[layer, head, query], trace.k[layer, kv_head, key]
    products = q * k
    dot = float(products.sum(dtype=np.float64))
    row = _score_row(trace, layer, head, query)
    visible = trace.masks[layer][query]
    weights = np.where(visible, np.exp(row - row[visible].max()), 0.0)
    return ScoreTerms(
        q=frozen(q),
        k=frozen(k),
        products=frozen(products),
        order=frozen_ids(np.argsort(-np.abs(products), kind="stable")),
        kv_head=kv_head,
        dot=dot,
        scale=trace.scales[layer],
        softcap=trace.softcaps[layer],
        score=float(row[key]),
        masked=not bool(visible[key]),
        probability=float(weights[key] / weights.sum()),
    )


def readers(trace: Trace, query: int, key: int) -> Readers:
    """Rank all heads by how much one token reads another in them.

    Args:
        trace: The traced pass.
        query: The position that reads; negative counts from the end.
        key: The position that is read; negative counts from the end.

    Raises:
        EngineError: There is no such position.
    """
    query = trace.position_index(query, "query position")
    key = trace.position_index(key, "key position")
    shares = np.zeros((trace.architecture.layers, trace.architecture.heads), dtype=np.float32)
    for layer in range(len(shares)):
        scores_H1S = attention_scores(
            trace.q[layer][:, [query]],
            trace.k[layer],
            trace.scales[layer],
            trace.softcaps[layer],
            trace.masks[layer][[query]],
        )
        shares[layer] = attention_pattern(scores_H1S)[:, 0, key]
    return Readers(query, key, frozen(shares), largest(shares.ravel(), shares.size))


def without_first_token(pattern: Array) -> Array:
    """Return a pattern with the first token left out and the rest of each row scaled to sum to 1.

    Args:
        pattern: `[..., T, S]`.

    Returns:
        The same shape. The first query reads only the first token, so its row is all zeros; so is
        any other row that gives the rest nothing at all.
    """
    rest = np.array(pattern, dtype=np.float32)
    rest[..., 0] = 0.0
    sums = rest.sum(axis=-1, keepdims=True)
    return frozen(np.divide(rest, sums, out=np.zeros_like(rest), where=sums > 0))


def head_scores(trace: Trace) -> HeadScores:
    """Measure how much every head reads in each known way on this prompt."""
    readers = _readers(trace.ids)
    shape = (trace.architecture.layers, trace.architecture.heads)
    means = {name: np.zeros(shape, dtype=np.float32) for name in readers}
    for layer in range(shape[0]):
        pattern_HTS = trace.pattern(layer)
        for name, (wanted_TS, queries) in readers.items():
            if queries.any():
                mass_HT = (pattern_HTS * wanted_TS).sum(axis=-1)
                means[name][layer] = mass_HT[:, queries].mean(axis=-1)
    return HeadScores(
        previous=frozen(means["previous"]),
        first=frozen(means["first"]),
        same=frozen(means["same"]),
        induction=frozen(means["induction"]),
        repeats=int(readers["same"][1].sum()),
        followed=int(readers["induction"][1].sum()),
    )


def overview(trace: Trace, size: int = 32, *, without_first: bool = False) -> PatternOverview:
    """Shrink all heads' patterns to at most `size` by `size`, one layer at a time.

    Neighbouring queries are averaged and neighbouring keys added up, so the values stay shares of
    attention: nothing is lost, and a thin diagonal does not fade.

    Args:
        trace: The traced pass.
        size: Most rows and columns of a picture.
        without_first: Leave out the first token and scale the rest of each row to sum to 1.
    """
    tokens, count = len(trace.ids), max(1, min(size, len(trace.ids)))
    edges = np.linspace(0, tokens, count + 1).round().astype(np.int64)
    starts, widths = edges[:-1], np.diff(edges)
    shape = (trace.architecture.layers, trace.architecture.heads, count, count)
    maps = np.zeros(shape, dtype=np.uint8)
    for layer in range(shape[0]):
        pattern = trace.pattern(layer)
        if without_first:
            pattern = without_first_token(pattern)
        added = np.add.reduceat(pattern, starts, axis=-1)
        small = np.add.reduceat(added, starts, axis=-2) / widths[:, None]
        maps[layer] = np.rint(np.clip(small, 0.0, 1.0) * 255)
    maps.flags.writeable = False
    return PatternOverview(maps, frozen_ids(edges))


def _score_row(trace: Trace, layer: int, head: int, query: int) -> npt.NDArray[np.float64]:
    """Return one query's scores before the mask, `[S]`."""
    kv_head = trace.kv_head(head)
    keys_SK = trace.k[layer, kv_head].astype(np.float64)
    dots_S = keys_SK @ trace.q[layer, head, query]
    return scaled_scores(dots_S, trace.scales[layer], trace.softcaps[layer])


def _readers(
    ids: Sequence[int],
) -> dict[str, tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]:
    """Return per kind of head the cells that it would read `[T, S]` and its queries `[T]`."""
    tokens = np.asarray(ids)
    count = len(tokens)
    later = np.arange(count) > 0
    earlier = np.tri(count, k=-1, dtype=np.bool_)
    same = (tokens[:, None] == tokens[None, :]) & earlier
    followed = np.zeros_like(same)
    followed[:, 1:] = same[:, :-1]
    followed &= earlier  # what follows the occurrence just before is the query itself
    first = np.zeros_like(same)
    first[:, 0] = True
    return {
        "previous": (np.eye(count, k=-1, dtype=np.bool_), later),
        "first": (first, later),
        "same": (same, same.any(axis=1)),
        "induction": (followed, followed.any(axis=1)),
    }
