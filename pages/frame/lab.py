"""What the LM head's and the sampling page derive from one pass, kept by request.

Nothing here runs the model anew for a prompt that was traced already.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from engine.basics import distribution
from pages.frame.live import PROMPT_CAP, Live, cached_trace
from pages.frame.loading import loaded_model

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.basics.distribution import TopTokens
    from engine.generation.beam import BeamTree
    from engine.generation.token_step import TokenStep
    from engine.lm_head.scores import LogitTerms
    from engine.sampling.chain import SamplingSettings
    from engine.sampling.sharpness import Sharpness


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


@st.cache_resource(max_entries=8, show_spinner=False)
def scores(source: str, ids: tuple[int, ...]) -> Scores:
    """Return the scores after a prompt."""
    logits = cached_trace(source, ids, ()).logits
    probabilities = distribution.softmax(logits)
    best = distribution.top(logits, 20)
    return Scores(logits, probabilities, best, distribution.entropy_bits(probabilities))


def top(logits: Array, count: int) -> TopTokens:
    """Return the likeliest tokens of any row of logits."""
    return distribution.top(logits, count)


def bits(logits: Array) -> float:
    """Return the entropy of any row of logits, in bits."""
    return distribution.entropy_bits(distribution.softmax(logits))


@st.cache_resource(max_entries=32, show_spinner=False)
def logit_terms(source: str, ids: tuple[int, ...], token_id: int) -> LogitTerms:
    """Return one token's score as a sum."""
    from engine.lm_head import scores as lm_head

    return lm_head.logit_terms(cached_trace(source, ids, ()), token_id)


@st.cache_resource(max_entries=16, show_spinner=False)
def uniforms(seed: int, count: int) -> tuple[float, ...]:
    """Return the first random numbers of a seed."""
    from engine.generation.random_numbers import uniforms as numbers

    return numbers(seed, count)


@st.cache_resource(max_entries=16, show_spinner=False)
def other_prompt(source: str, text: str) -> tuple[tuple[int, ...], Array | None, str]:
    """Read a second prompt: its ids, the logits after it, and what is wrong with it if anything."""
    from engine.kv_cache.cached_pass import CachedPass

    model = loaded_model(source)
    if model is None:
        raise RuntimeError("The model must be loaded before a prompt is read.")
    ids = tuple(token.id for token in model.tokenizer.encode(text, add_bos=True))
    if not text or not ids:
        return ids, None, "The second prompt is empty: type a few words."
    if len(ids) > PROMPT_CAP:
        return ids, None, f"The second prompt has {len(ids):,} tokens; up to {PROMPT_CAP} are read."
    return ids, CachedPass(model).advance(ids), ""


def beams(live: Live, width: int, tokens: int, length_penalty: float) -> BeamTree:
    """Search, with a bar that grows; kept by request in this session."""
    from engine.generation.beam import beam_search

    bar = st.progress(0.0, text="Searching …")

    def show(depth: int) -> None:
        bar.progress(depth / tokens, text=f"Step {depth} of {tokens}")

    tree = beam_search(
        live.model,
        live.ids,
        width=width,
        max_new_tokens=tokens,
        length_penalty=length_penalty,
        progress=show,
    )
    bar.empty()
    return tree


def written(live: Live, settings: SamplingSettings, tokens: int) -> Iterator[TokenStep]:
    """Write from the page's prompt and seed with these settings."""
    from engine.generation.loop import generate

    steps = generate(live.model, live.ids, settings, max_new_tokens=tokens, seed=live.seed)
    with contextlib.closing(steps):
        yield from steps


def measure_sharpness(live: Live) -> Sharpness:
    """Ask the running model all facts, with a bar that grows."""
    from engine.generation.sharpness import measure
    from engine.sampling.sharpness import load_facts

    bar = st.progress(0.0, text="Asking …")

    def show(done: int, total: int) -> None:
        bar.progress(done / total, text=f"{done} of {total} prompts")

    result = measure(live.model, load_facts(), progress=show)
    bar.empty()
    return result
