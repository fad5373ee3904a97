"""Embedding page, RoPE: clock hands, wavelengths, and that only distance counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.embedding.rope_clock import clock
from components.kit.arrays import Array
from components.kit.figure import token_labels
from components.kit.heatmap import heatmap, selected_cell
from components.kit.layout import side_by_side
from components.kit.lines import lines, selected_point
from components.kit.model_words import pair_members, pair_words
from components.kit.show import chart
from components.kit.text import counted, markdown, visible
from components.link import keys, widgets

if TYPE_CHECKING:
    from engine.embedding.rope import RopeHead

CLOCKS = 8
"""The most positions whose clocks are drawn."""
FAR = 200
"""The largest distance and shift of the experiment, in tokens."""


@dataclass(frozen=True, eq=False)
class RopeFacts:
    """What the page asked the engine for, for one head."""

    head: RopeHead
    angles: Array
    """[T, pairs], in radians."""
    wavelengths: Array
    """[pairs], in tokens."""
    means: Array
    """[T], the head's mean score by distance."""
    counts: Array
    """[T], how many pairs of tokens each is a mean over."""


@dataclass(frozen=True)
class RopeChoice:
    """What is looked at."""

    token: int
    """The position."""
    pair: int
    """Which two numbers of a query or key."""
    layer: int
    head: int
    name: str
    """“query” or “key”: whose hands are drawn."""


def show(facts: RopeFacts, pieces: Sequence[bytes], chosen: RopeChoice) -> None:
    """Draw the whole look: the turns, the hands, and that only distance counts.

    Args:
        facts: of the chosen head.
        pieces: bytes of the T tokens.
        chosen: what is looked at.
    """
    pairs, token, pair = facts.angles.shape[1], chosen.token, chosen.pair
    words = pair_words(facts.head.pairing, pairs)

    def chosen_cell(event: Mapping[str, Any]) -> None:
        if cell := selected_cell(event, facts.angles):
            st.session_state[keys.TOKEN], st.session_state[keys.ROPE_PAIR] = cell

    def chosen_point(event: Mapping[str, Any]) -> None:
        if (point := selected_point(event, pairs)) is not None:
            st.session_state[keys.ROPE_PAIR] = point

    figure = angle_figure(facts.angles, pieces, token=token, pair=pair, key="angles")
    chart(
        figure,
        key="angles",
        alt=f"RoPE angles by position and pair (numbers {words})",
        on_select=chosen_cell,
    )
    left, right = side_by_side(1, 1)
    with left:
        show_hands(facts.head, pieces, chosen)
    with right:
        figure = wavelength_figure(facts.wavelengths, pair, "wavelengths")
        chart(figure, key="wavelengths", alt="Tokens for one turn, by pair", on_select=chosen_point)
    show_distance(facts.head, pieces, token)
    figure = mean_figure(
        facts.means, facts.counts, layer=chosen.layer, head=chosen.head, key="mean_score"
    )
    chart(figure, key="mean_score", alt="The head's mean score by distance")
    st.caption(
        "The mean of the head's scores (before the softmax) over all pairs of tokens that far "
        f"apart: {facts.counts[0]:,} at distance 0, fewer with each step, 1 at the largest."
        if facts.counts[-1]
        else "The mean of the head's scores (before the softmax) over all pairs of tokens that far "
        "apart. This layer hides what lies further back (sliding window)."
    )


def choose_pair(pairs: int) -> int:
    """Draw the slider of the pair and return its value."""
    entry = keys.Limit(keys.ROPE_PAIR, "Pair of numbers", 0, pairs - 1, 0, 1, whole=True)
    return int(widgets.slider(entry, width=180))


def choose_hands() -> str:
    """Draw the choice between queries and keys and return it."""
    return widgets.choice("Hands of each", ("query", "key"), key=keys.HANDS_OF)


def angle_figure(
    angles: Array, pieces: Sequence[bytes], *, token: int, pair: int, key: str
) -> go.Figure:
    """Return how far each pair is turned at each position.

    Args:
        angles: [T, pairs], in radians.
        pieces: bytes of the T tokens.
        token: the chosen position.
        pair: the chosen pair.
        key: the chart's key.
    """
    turned = float(angles[token, pair])
    said = degrees(turned)
    if turned > 2 * np.pi:
        said += f" ({degrees(turned % (2 * np.pi))} after whole turns)"
    return rope_table(
        angles,
        token_labels(pieces),
        title=f"At position {token} pair {pair} is turned by {said}, the slowest by "
        f"{degrees(angles[token, -1])}",
        key=key,
        selected=(token, pair),
    )


def degrees(radians: float) -> str:
    """Write an angle: 57°, 0.03°."""
    value = float(np.degrees(radians))
    return f"{value:,.0f}°" if value >= 10 or value == 0 else f"{value:.2g}°"


def wavelength_figure(wavelengths: Array, pair: int, key: str) -> go.Figure:
    """Return after how many tokens each pair comes around, on a log axis."""
    whole = float(wavelengths[pair])
    return lines(
        {"tokens for one turn": wavelengths},
        title=f"Pair {pair}: one turn in {whole:,.{1 if whole < 100 else 0}f} tokens",
        key=key,
        x_title="pair",
        y_title="tokens for one turn (wavelength)",
        log=True,
        selected=pair,
        number_format=",.1f",
    )


def hands_figure(
    before: Array, after: Array, pieces: Sequence[bytes], *, first: int, pair: int, name: str
) -> go.Figure:
    """Return one clock per position: the pair's hand before it was turned and after.

    Args:
        before: [n, 2], the two numbers of the pair at each position.
        after: [n, 2], once turned.
        pieces: bytes of the n tokens.
        first: the position of the first of them.
        pair: which pair.
        name: "query" or "key".
    """
    angles = np.stack([np.arctan2(vectors[:, 1], vectors[:, 0]) for vectors in (before, after)])
    return clock(
        angles,
        title=f"Pair {pair} of each {name}, before and after",
        key="hands",
        position_names=["before", "after"],
        pair_names=[f"{first + n} {visible(piece, limit=9)}" for n, piece in enumerate(pieces)],
        columns=4,
        height=90 + 95 * -(-len(pieces) // 4),
    )


def show_hands(head: RopeHead, pieces: Sequence[bytes], chosen: RopeChoice) -> None:
    """Draw the clocks around the chosen token, and say that lengths stay."""
    token, pair, name = chosen.token, chosen.pair, chosen.name
    first = max(0, min(token - CLOCKS // 2, len(pieces) - CLOCKS))
    span = slice(first, first + CLOCKS)
    raw, turned = (head.raw_q, head.q) if name == "query" else (head.raw_k, head.k)
    before, after = head.pair(raw, pair), head.pair(turned, pair)
    figure = hands_figure(
        before[span], after[span], pieces[span], first=first, pair=pair, name=name
    )
    one, other = pair_members(head.pairing, len(head.speeds), pair)
    alt = f"Clock hands of pair {pair} (numbers {one} and {other}) before and after the turn"
    chart(figure, key="hands", alt=alt)
    lengths = np.linalg.norm(before[token]), np.linalg.norm(after[token])
    st.markdown(
        f"Numbers {one} and {other} of the {name} are one hand. At position {token} "
        f"({markdown(visible(pieces[token]))}) its length is "
        f"{lengths[0]:.3f} before and {lengths[1]:.3f} after: **a turn changes no length**. At "
        "position 0 nothing is turned."
    )


@st.fragment
def show_distance(head: RopeHead, pieces: Sequence[bytes], token: int) -> None:
    """Draw what moving both tokens, or only one, does to their score."""
    st.markdown("##### Only distance counts")
    key, shift = _distance_controls(token)
    both, alone = distance_scores(head, token, key)
    own = float(head.scores(token, key, [token], [key])[0])
    figure = lines(
        {"both moved": both, "only the query moved": alone},
        title=f"Both moved by {shift}: the score stays {own:.2f}. Only the query moved: "
        f"{alone[shift]:.2f}",
        key="distance",
        x_title="moved by so many tokens",
        y_title="score (q·k, scaled)",
        selected=shift,
        number_format=".3f",
    )
    figure.update_traces(mode="lines")
    alt = "The score of one query and key when both move, and when their distance changes"
    chart(figure, key="distance", alt=alt)
    query_name, key_name = (markdown(visible(pieces[place])) for place in (token, key))
    st.markdown(
        f"The query of {query_name} at {token} and the key of {key_name} at {key}: score "
        f"**{own:.4f}**. At {token + shift} and {key + shift}: **{both[shift]:.4f}**, the same. "
        f"Only the query at {token + shift}: **{alone[shift]:.4f}**. Their vectors stay those of "
        "this prompt; only the turns change."
    )


def _distance_controls(token: int) -> tuple[int, int]:
    """Draw the two sliders; return the key's position and the shift."""
    read = keys.Limit(keys.ROPE_KEY, "Position that is read (key)", 0, token, 0, 1, whole=True)
    moved = keys.Limit(keys.ROPE_SHIFT, "Move by", 0, FAR, 10, 1, whole=True)
    with st.container(horizontal=True):
        key = int(widgets.slider(read, width=240)) if token > 0 else 0
        shift = int(widgets.slider(moved, width=300))
    return key, shift


def distance_scores(head: RopeHead, token: int, key: int) -> tuple[Array, Array]:
    """Return the score with both moved by 0…`FAR`, and with only the query moved."""
    steps = range(FAR + 1)
    far = [token + step for step in steps]
    both = head.scores(token, key, far, [key + step for step in steps])
    alone = head.scores(token, key, far, [key] * (FAR + 1))
    return both, alone


def mean_figure(means: Array, counts: Array, *, layer: int, head: int, key: str) -> go.Figure:
    """Return the head's mean score at each distance.

    Args:
        means: [T], NaN where the mask hides all.
        counts: [T], pairs behind each mean.
        layer: for the title.
        head: for the title.
        key: the chart's key.
    """
    # A mean over one or two pairs says nothing of the head; short prompts have no better ones.
    enough = np.where(counts >= min(3, counts.max()), means, np.nan)
    best = int(np.nanargmax(enough))
    where = "the token itself" if best == 0 else f"{counted(best, 'token')} back"
    return lines(
        {"mean score": means},
        title=f"Layer {layer}, head {head} scores highest on {where} ({means[best]:.2f})",
        key=key,
        x_title="distance in tokens",
        y_title="mean score",
        number_format=".2f",
    )


def rope_table(
    angles: Array,
    position_labels: Sequence[str],
    *,
    title: str,
    key: str,
    selected: tuple[int, int] | None = None,
) -> go.Figure:
    """Return by how many degrees RoPE turned every pair, after whole turns: a row per position.

    Args:
        angles: [positions, pairs] in radians.
        position_labels: one per position, escaped.
        title: what is seen.
        key: the chart's key.
        selected: the chosen (position, pair).
    """
    pairs = [str(pair) for pair in range(np.shape(angles)[1])]
    figure = heatmap(
        turns(angles),
        position_labels,
        pairs,
        title=title,
        key=key,
        low=0.0,
        high=360.0,
        row_name="position",
        col_name="pair",
        value_name="degrees:",
        number_format=".0f",
        selected=selected,
    )
    figure.update_xaxes(title="pair of numbers, from the fastest to the slowest")
    figure.update_yaxes(title="token")
    return figure


def turns(angles: Array) -> Array:
    """Return how far each angle is turned after whole turns, in degrees from 0 to below 360."""
    return np.degrees(np.asarray(angles, dtype=np.float64)) % 360
