"""The logit lens: the next-token distribution that the model would give after each layer.

The residual stream after any layer is read as the last one is: final norm, LM head, softmax. Early
layers were not trained to be read like this, so a reading there does not show what the model
"thinks" at that point. Source: nostalgebraist, "interpreting GPT: the logit lens" (2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array, Ids, frozen, frozen_ids
from engine.basics.distribution import entropy_bits, largest, softmax
from engine.basics.errors import check_index
from engine.basics.results import Table
from engine.tracing import replay

if TYPE_CHECKING:
    from engine.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class LensReading(Table):
    """The most likely next tokens, as read at one layer and position."""

    columns = ("ids", "logits", "probabilities")

    layer: int
    """How many blocks the vector has gone through: 0 reads the embedding, L the final stream."""
    position: int
    ids: Ids
    """`[n]`, best first."""
    logits: Array
    """`[n]`."""
    probabilities: Array
    """`[n]`, shares of the whole vocabulary."""
    entropy: float
    """Entropy of the whole distribution, in bits."""


@dataclass(frozen=True, eq=False)
class LensGrid(Table):
    """The most likely next token at every layer of several positions."""

    columns = ("ids", "probabilities", "entropies", "answer_probabilities")
    axes = ("layer", "positions")

    positions: tuple[int, ...]
    """The P positions."""
    ids: Ids
    """`[L+1, P]`; row l is after l blocks."""
    probabilities: Array
    """`[L+1, P]`."""
    entropies: Array
    """`[L+1, P]`, in bits."""
    answer_probabilities: Array
    """`[L+1, P]`, the probability of the token that is the likeliest at the end, `ids[-1]`."""


@dataclass(frozen=True, eq=False)
class TokenPath(Table):
    """One token's rank and probability as read at every layer; row l is after l blocks."""

    columns = ("ranks", "probabilities", "logits")
    axes = ("layer",)

    token_id: int
    position: int
    ranks: Ids
    """`[L+1]`, 1 for the likeliest token; tokens with equal scores share the better rank."""
    probabilities: Array
    """`[L+1]`."""
    logits: Array
    """`[L+1]`."""


def lens(trace: Trace, layer: int, position: int, top: int = 10) -> LensReading:
    """Read the residual stream at one layer and position.

    Args:
        trace: The traced pass.
        layer: After how many blocks, 0 to L; L gives the model's own logits.
        position: The position; negative counts from the end.
        top: How many tokens.

    Raises:
        EngineError: There is no such layer or position.
    """
    return lens_layers(trace, (layer,), position, top)[0]


def lens_layers(
    trace: Trace, layers: Sequence[int], position: int, top: int = 10
) -> tuple[LensReading, ...]:
    """Read one position at some layers, in one pass through the LM head.

    Args:
        trace: The traced pass.
        layers: Each after how many blocks, 0 to L.
        position: The position; negative counts from the end.
        top: How many tokens in each reading.

    Raises:
        EngineError: There is no such layer or position.
    """
    depths = [check_index("layer", layer, trace.architecture.layers + 1) for layer in layers]
    position = trace.position_index(position)
    _, logits_NV = replay.run_lm_head(trace.model, trace.stream_at(position)[depths])
    readings = []
    for depth, logits in zip(depths, logits_NV, strict=True):
        probabilities, best = softmax(logits), largest(logits, top)
        readings.append(
            LensReading(
                layer=depth,
                position=position,
                ids=best,
                logits=frozen(logits[best]),
                probabilities=frozen(probabilities[best]),
                entropy=entropy_bits(probabilities),
            )
        )
    return tuple(readings)


def lens_column(trace: Trace, position: int, top: int = 10) -> tuple[LensReading, ...]:
    """Read one position at all layers, 0 to L, in one pass through the LM head.

    Args:
        trace: The traced pass.
        position: The position; negative counts from the end.
        top: How many tokens in each reading.

    Raises:
        EngineError: There is no such position.
    """
    return lens_layers(trace, range(trace.architecture.layers + 1), position, top)


def token_path(trace: Trace, token_id: int, position: int = -1) -> TokenPath:
    """Follow one token's rank and probability through the layers.

    Args:
        trace: The traced pass.
        token_id: The token.
        position: The position that is read; negative counts from the end.

    Raises:
        EngineError: There is no such token or position.
    """
    token_id = check_index("token id", token_id, trace.architecture.vocabulary)
    position = trace.position_index(position)
    _, logits_NV = replay.run_lm_head(trace.model, trace.stream_at(position))
    own = logits_NV[:, token_id]
    return TokenPath(
        token_id=token_id,
        position=position,
        ranks=frozen_ids(1 + (logits_NV > own[:, None]).sum(axis=1)),
        probabilities=frozen([softmax(logits)[token_id] for logits in logits_NV]),
        logits=frozen(own),
    )


def lens_grid(trace: Trace, positions: Sequence[int] | None = None) -> LensGrid:
    """Read all layers of several positions, one position at a time.

    At most the logits of one position are in memory: L+1 rows of V.

    Args:
        trace: The traced pass.
        positions: The positions, None for all; negative ones count from the end.

    Raises:
        EngineError: There is no such position.
    """
    asked = range(len(trace.ids)) if positions is None else positions
    places = tuple(trace.position_index(p) for p in asked)
    shape = (trace.architecture.layers + 1, len(places))
    ids = np.zeros(shape, dtype=np.int64)
    best, bits, answers = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for column, place in enumerate(places):
        _, logits_NV = replay.run_lm_head(trace.model, trace.stream_at(place))
        ids[:, column] = logits_NV.argmax(axis=-1)
        for layer, logits in enumerate(logits_NV):
            # Softmax and entropy with one exponential per score: a grid has millions of them.
            top = ids[layer, column]
            shifted = np.subtract(logits, logits[top], dtype=np.float64)
            weights = np.exp(shifted)
            total = float(weights.sum())
            best[layer, column] = 1 / total
            answers[layer, column] = weights[ids[-1, column]] / total
            np.maximum(shifted, -1e9, out=shifted)  # -inf times 0 is no number
            # Not `@`: its library shares sums of this length among threads, which wait in vain.
            nats = np.log(total) - float(np.einsum("v,v->", weights, shifted)) / total
            bits[layer, column] = max(0.0, nats) / np.log(2)
    return LensGrid(places, frozen_ids(ids), frozen(best), frozen(bits), frozen(answers))
