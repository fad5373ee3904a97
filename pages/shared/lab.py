"""What the LM head's and the sampling page derive from one pass, kept by request.

Nothing here runs the model anew for a prompt that was traced already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared.live import cached_trace

if TYPE_CHECKING:
    from engine.arrays import Array
    from engine.lm_head import LogitTerms, TopTokens


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
    from engine import lm_head

    logits = cached_trace(source, ids, ()).logits
    probabilities = lm_head.softmax(logits)
    best = lm_head.top(logits, 20)
    return Scores(logits, probabilities, best, lm_head.entropy(probabilities))


@st.cache_resource(max_entries=32, show_spinner=False)
def logit_terms(source: str, ids: tuple[int, ...], token_id: int) -> LogitTerms:
    """Return one token's score as a sum."""
    from engine import lm_head

    return lm_head.logit_terms(cached_trace(source, ids, ()), token_id)


@st.cache_resource(max_entries=64, show_spinner=False)
def uniform(seed: int) -> float:
    """Return the first random number of a seed, with which the first token is drawn."""
    from engine.generate import uniforms

    return uniforms(seed, 1)[0]
