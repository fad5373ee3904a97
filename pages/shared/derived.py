"""What pages derive from one trace and use again at every rerun, kept by request.

Keyed like the traces, on model, ids and edits, so an edited run never stands in for the plain one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.shared.live import cached_trace

if TYPE_CHECKING:
    from engine.attention import HeadScores, PatternOverview
    from engine.edits import Edit
    from engine.feed_forward import ResidualNorms

TILE = 24
"""Rows and columns of one head in the overview of all heads; 270 of them stay under 300 kB."""


@st.cache_resource(max_entries=8, show_spinner=False)
def head_scores(source: str, ids: tuple[int, ...], edits: tuple[Edit, ...] = ()) -> HeadScores:
    """Return what kind of reader each head is on this prompt."""
    from engine import attention

    return attention.head_scores(cached_trace(source, ids, edits))


@st.cache_resource(max_entries=8, show_spinner=False)
def pattern_overview(
    source: str, ids: tuple[int, ...], without_first: bool, edits: tuple[Edit, ...] = ()
) -> PatternOverview:
    """Return all heads' patterns in small."""
    from engine import attention

    trace = cached_trace(source, ids, edits)
    return attention.overview(trace, TILE, without_first=without_first)


@st.cache_resource(max_entries=8, show_spinner=False)
def residual_norms(
    source: str, ids: tuple[int, ...], edits: tuple[Edit, ...] = ()
) -> ResidualNorms:
    """Return the lengths of the residual stream and of what is added to it."""
    from engine import feed_forward

    return feed_forward.residual_norms(cached_trace(source, ids, edits))
