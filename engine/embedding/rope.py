"""RoPE, rotary position encoding: speeds, angles, rotation, and scores at other positions.

The entries of queries and keys are turned in pairs by an angle that grows with the position. Each
pair has its own speed: the first turns fast, the last hardly at all. The product of a turned query
and a turned key depends on how far apart their tokens are, and not on where they are.
Source: Su et al., RoFormer (2021); pairs (i, i + R/2) as in GPT-NeoX and Llama's transformers port.

R is the number of entries of a head that are rotated: all K of them in most families, fewer in
GPT-NeoX or Phi.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from engine.basics.arrays import Array, Ids, frozen, frozen_ids
from engine.basics.errors import EngineError, check_index
from engine.basics.results import Result
from engine.network.rotary import length_switch, rotation_speeds
from engine.tracing.trace import trace as run_trace

if TYPE_CHECKING:
    from engine.model.model import LanguageModel
    from engine.tracing.trace import Trace

Pairing = Literal["halves", "neighbours"]


PROBE = 4
"""A pass over this many tokens is enough to see which entries a model turns together."""


@dataclass(frozen=True)
class RotatedPairs(Result):
    """How many pairs of entries a model turns, and which entries make a pair."""

    count: int
    """R/2, how many pairs there are."""
    pairing: Pairing | None
    """None if the model uses neither of the two ways."""


@dataclass(frozen=True, eq=False)
class RopeHead(Result):
    """One head's queries and keys, before and after they were turned."""

    raw_q: Array
    """`[T, K]`, before."""
    raw_k: Array
    """`[T, K]`, before; of the key/value head that this head reads."""
    q: Array
    """`[T, K]`, after: what the model used."""
    k: Array
    """`[T, K]`, after."""
    speeds: Array
    """Radians per token of each pair, `[R/2]`."""
    pairing: Pairing
    scale: float
    """Factor on `q·k`."""

    def pair(self, vectors: Array, number: int) -> Array:
        """Return the two entries of one pair, `[..., 2]`.

        Raises:
            EngineError: There is no such pair.
        """
        number = check_index("pair", number, len(self.speeds))
        first, second = _pair_indices(len(self.speeds), self.pairing)
        halves = vectors[..., first][..., number], vectors[..., second][..., number]
        return frozen(np.stack(halves, axis=-1))

    def scores(self, query: int, key: int, at_query: Sequence[int], at_key: Sequence[int]) -> Array:
        """Return what `q·k · scale` would be if the two tokens were at other positions, `[N]`.

        Only the positions change; the vectors stay those of this prompt.

        Args:
            query: The token whose query it is.
            key: The token whose key it is.
            at_query: The N positions to put the query at.
            at_key: The N positions to put the key at.
        """
        turned_q, turned_k = (
            rotate(raw, frozen(np.asarray(at)[:, None] * self.speeds), self.pairing)
            for raw, at in (
                (
                    np.broadcast_to(self.raw_q[query], (len(at_query), self.raw_q.shape[1])),
                    at_query,
                ),
                (np.broadcast_to(self.raw_k[key], (len(at_key), self.raw_k.shape[1])), at_key),
            )
        )
        return frozen((turned_q.astype(np.float64) * turned_k).sum(axis=-1) * self.scale)


def head_view(trace: Trace, layer: int, head: int) -> RopeHead:
    """Return one head's queries and keys before and after RoPE; this replays its layer.

    Raises:
        EngineError: The model has no RoPE, or there is no such layer or head.
    """
    own_speeds = speeds(trace.model, len(trace.ids))
    layer = trace.layer_index(layer)
    head = trace.head_index(head)
    group = trace.kv_head(head)
    raw_q, raw_k = trace.unrotated(layer)
    return RopeHead(
        raw_q=raw_q[head],
        raw_k=raw_k[group],
        q=trace.q[layer, head],
        k=trace.k[layer, group],
        speeds=own_speeds,
        # A single token at position 0 is not turned, so it shows no pairing.
        pairing=pairing(trace) or rotated_pairs(trace.model).pairing or "halves",
        scale=trace.scales[layer],
    )


def mean_score_by_distance(trace: Trace, layer: int, head: int) -> tuple[Array, Ids]:
    """Return a head's mean score at each distance between query and key.

    Returns:
        The means `[T]`, from distance 0 (the token itself), NaN where the mask hides all, and how
        many pairs of tokens each is a mean over `[T]`.

    Raises:
        EngineError: There is no such layer or head.
    """
    scores_TS = trace.scores(layer)[trace.head_index(head)]
    means, counts = [], []
    for distance in range(len(trace.ids)):
        seen = np.diagonal(scores_TS, -distance)
        seen = seen[np.isfinite(seen)]
        counts.append(len(seen))
        means.append(float(seen.mean(dtype=np.float64)) if len(seen) else float("nan"))
    return frozen(means), frozen_ids(counts)


def speeds(model: LanguageModel, tokens: int = 1) -> Array:
    """Return by how many radians each pair turns from one token to the next, `[R/2]`.

    They are the loaded model's own, with any scaling for long contexts; without scaling, pair i
    turns by `theta ** (-2i/R)`.

    Args:
        model: The model.
        tokens: How long the text is: some models turn long texts at other speeds (longrope).

    Raises:
        EngineError: The model has no RoPE.
    """
    with ExitStack() as stack:
        if length_switch(model.network) is not None:
            stack.enter_context(model.lock)
        found = rotation_speeds(model.network, tokens)
    if found is not None:
        return found
    raise EngineError(
        f"The model “{model.name}” has no rotary position encoding (RoPE), so there are no angles "
        "to show. It knows positions in another way."
    )


def angles(model: LanguageModel, positions: Sequence[int]) -> Array:
    """Return the angle of each pair at each position, in radians, `[T, R/2]`.

    The text is taken to end at the last of the positions.

    Raises:
        EngineError: The model has no RoPE.
    """
    own = speeds(model, max(positions, default=0) + 1)
    return frozen(np.asarray(positions, dtype=np.float64)[:, None] * own)


def wavelengths(model: LanguageModel, tokens: int = 1) -> Array:
    """Return after how many tokens each pair has made one full turn, `[R/2]`.

    Args:
        model: The model.
        tokens: How long the text is, as for `speeds`.

    Raises:
        EngineError: The model has no RoPE.
    """
    return frozen(2 * np.pi / speeds(model, tokens).astype(np.float64))


def rotate(vector: Array, angle: Array, pairing: Pairing = "halves") -> Array:
    """Turn a query or key by the definition of RoPE.

    Args:
        vector: `[..., K]`; entries from R on stay as they are.
        angle: Radians per pair, `[..., R/2]`.
        pairing: "halves" turns entries (i, i + R/2) together, "neighbours" (2i, 2i + 1).

    Returns:
        `[..., K]`.
    """
    pairs = angle.shape[-1]
    first, second = _pair_indices(pairs, pairing)
    x, y = vector[..., first].astype(np.float64), vector[..., second].astype(np.float64)
    cosine, sine = np.cos(angle, dtype=np.float64), np.sin(angle, dtype=np.float64)
    turned = np.array(vector, dtype=np.float64)
    turned[..., first] = x * cosine - y * sine
    turned[..., second] = x * sine + y * cosine
    return frozen(turned)


def pairing(trace: Trace) -> Pairing | None:
    """Find out which entries a model turns together, by turning a pass's queries in both ways.

    Returns:
        The pairing, or None if neither way gives the queries that the model used. That is also so
        where nothing is turned: with a single token, or with position turned off.

    Raises:
        EngineError: The model has no RoPE.
    """
    angle_TP = angles(trace.model, range(len(trace.ids)))
    raw, _ = trace.unrotated(0)
    if np.allclose(raw, trace.q[0]):
        return None
    for candidate in ("halves", "neighbours"):
        turned = rotate(raw, angle_TP, candidate)
        if np.allclose(turned, trace.q[0], rtol=1e-3, atol=1e-3 * float(np.abs(raw).max())):
            return candidate
    return None


def rotated_pairs(model: LanguageModel) -> RotatedPairs:
    """Find out which entries a model turns together, from a pass over a few tokens.

    Raises:
        EngineError: The model has no RoPE.
    """
    count = len(speeds(model))
    few = range(min(PROBE, model.architecture.vocabulary))
    return RotatedPairs(count, pairing(run_trace(model, few)))


def _pair_indices(pairs: int, pairing: Pairing) -> tuple[slice, slice]:
    """Return where the first and the second entries of all pairs stand."""
    if pairing == "halves":
        return slice(0, pairs), slice(pairs, 2 * pairs)
    return slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
