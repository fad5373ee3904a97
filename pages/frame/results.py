"""Results of the engine that pages use again at every rerun, each kept by its request.

They are keyed like the traces, on model, ids and edits, so an edited run never stands in for the
plain one. Nothing here runs the model anew on a prompt that was traced already. All sessions share
them, as long as `pages.frame.shared` has room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics import distribution
from engine.basics.errors import EngineError
from pages.frame.live import PROMPT_CAP, cached_trace
from pages.frame.loading import model_in_use
from pages.frame.shared import shared

if TYPE_CHECKING:
    import numpy.typing as npt

    from engine.attention.patterns import HeadScores, PatternOverview
    from engine.basics.arrays import Array
    from engine.basics.distribution import TopTokens
    from engine.embedding.rope import RopeHead, RotatedPairs
    from engine.feed_forward.neurons import ResidualNorms
    from engine.interpret.knockout import Difference
    from engine.interpret.lens import LensGrid, TokenPath
    from engine.lm_head.scores import LogitTerms
    from engine.observe.edits import Edit

TILE = 24
"""Rows and columns of one head in the overview of all heads; 270 of them stay under 300 kB."""


@shared
def head_scores(source: str, ids: tuple[int, ...], edits: tuple[Edit, ...] = ()) -> HeadScores:
    """Return what kind of reader each head is on this prompt."""
    from engine.attention import patterns

    return patterns.head_scores(cached_trace(source, ids, edits))


@shared
def telling_head(source: str, ids: tuple[int, ...]) -> tuple[int, int]:
    """Return the layer and head that add most to the likeliest next token by reading others."""
    from engine.interpret import attribution

    try:
        return attribution.telling_head(cached_trace(source, ids, ()))
    except EngineError:  # a final norm of an unknown kind; then the head that looks one token back
        previous = head_scores(source, ids).previous
        layer, head = divmod(int(previous.argmax()), previous.shape[1])
        return layer, head


@shared
def rope_head(source: str, ids: tuple[int, ...], layer: int, head: int) -> RopeHead:
    """Return one head's queries and keys before and after RoPE."""
    from engine.embedding import rope

    return rope.head_view(cached_trace(source, ids, ()), layer, head)


@shared
def rotated_pairs(source: str) -> RotatedPairs | None:
    """Return which numbers the model turns together; None without RoPE."""
    from engine.embedding import rope

    model = model_in_use(source)
    return rope.rotated_pairs(model) if model.architecture.positions == "rope" else None


@shared
def pattern_overview(
    source: str, ids: tuple[int, ...], without_first: bool, edits: tuple[Edit, ...] = ()
) -> PatternOverview:
    """Return all heads' patterns in small."""
    from engine.attention import patterns

    trace = cached_trace(source, ids, edits)
    return patterns.overview(trace, TILE, without_first=without_first)


@shared
def residual_norms(
    source: str, ids: tuple[int, ...], edits: tuple[Edit, ...] = ()
) -> ResidualNorms:
    """Return the lengths of the residual stream and of what is added to it."""
    from engine.feed_forward import neurons

    return neurons.residual_norms(cached_trace(source, ids, edits))


@shared
def difference(source: str, ids: tuple[int, ...], edits: tuple[Edit, ...]) -> Difference:
    """Return how an edited pass parts from the plain one."""
    from engine.interpret import knockout

    return knockout.difference(cached_trace(source, ids, ()), cached_trace(source, ids, edits))


@shared
def top_tokens(source: str, ids: tuple[int, ...], count: int = 10) -> tuple[list[int], list[float]]:
    """Return the likeliest next tokens and their probabilities."""
    best = distribution.top(cached_trace(source, ids, ()).logits, count)
    return [int(i) for i in best.ids], [float(p) for p in best.probabilities]


@shared
def sweep_table(source: str, ids: tuple[int, ...], token_id: int) -> npt.NDArray[np.float32]:
    """Return the table `[L, H]` that a sweep fills, NaN where it has not been yet.

    Every session that sweeps the same request writes the same numbers, so it is shared.
    """
    shape = cached_trace(source, ids, ()).architecture
    return np.full((shape.layers, shape.heads), np.nan, dtype=np.float32)


@shared
def lens_grid(source: str, ids: tuple[int, ...], positions: tuple[int, ...]) -> LensGrid:
    """Return the logit lens' readings at all layers of some positions."""
    from engine.interpret import lens

    return lens.lens_grid(cached_trace(source, ids, ()), positions)


@shared
def token_path(source: str, ids: tuple[int, ...], token_id: int, position: int) -> TokenPath:
    """Return one token's rank and probability as read at every layer of a position."""
    from engine.interpret import lens

    return lens.token_path(cached_trace(source, ids, ()), token_id, position)


@dataclass(frozen=True, eq=False)
class Scores:
    """The model's own distribution after a prompt."""

    logits: Array
    """`[V]`."""
    probabilities: Array
    """`[V]`."""
    best: TopTokens
    """The twenty likeliest tokens."""
    entropy_bits: float


@shared
def scores(source: str, ids: tuple[int, ...]) -> Scores:
    """Return the scores after a prompt."""
    logits = cached_trace(source, ids, ()).logits
    probabilities = distribution.softmax(logits)
    best = distribution.top(logits, 20)
    return Scores(logits, probabilities, best, distribution.entropy_bits(probabilities))


def bits(logits: Array) -> float:
    """Return the entropy of any row of logits, in bits."""
    return distribution.entropy_bits(distribution.softmax(logits))


@shared
def logit_terms(source: str, ids: tuple[int, ...], token_id: int) -> LogitTerms:
    """Return one token's score as a sum."""
    from engine.lm_head import scores as lm_head

    return lm_head.logit_terms(cached_trace(source, ids, ()), token_id)


@shared
def uniforms(seed: int, count: int) -> tuple[float, ...]:
    """Return the first random numbers of a seed."""
    from engine.generation.random_numbers import uniforms as numbers

    return numbers(seed, count)


@shared
def other_prompt(source: str, text: str) -> tuple[tuple[int, ...], Array | None, str]:
    """Read a second prompt: its ids, the logits after it, and what is wrong with it if anything."""
    from engine.kv_cache.cached_pass import CachedPass

    model = model_in_use(source)
    ids = tuple(model.tokenizer.ids(text, add_bos=True))
    if not text or not ids:
        return ids, None, "The second prompt is empty: type a few words."
    if len(ids) > PROMPT_CAP:
        return ids, None, f"The second prompt has {len(ids):,} tokens; up to {PROMPT_CAP} are read."
    return ids, CachedPass(model).advance(ids), ""
