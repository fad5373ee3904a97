"""One head on the attention page: arcs, matrix or steps, and the search for another head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from components.attention import arcs, controls, figures, finding
from components.attention.steps import choose_step, show_step
from components.kit.arrays import Array
from components.kit.heatmap import selected_cell
from components.kit.layout import side_by_side
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import markdown, quoted
from pages.frame import results

if TYPE_CHECKING:
    from engine.attention.patterns import HeadScores
    from engine.tracing.trace import Trace
    from pages.frame.live import Live


@dataclass(frozen=True)
class Place:
    """What is chosen: a token, and the head in which it is looked at."""

    layer: int
    head: int
    token: int


def show(live: Live, trace: Trace, place: Place, scores: HeadScores) -> None:
    """Draw the chosen head in the chosen view, and under it how to find another one.

    Args:
        live: the prompt.
        trace: its pass.
        place: what is chosen.
        scores: what kinds of readers all heads are.
    """
    with st.container(key="main_picture", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            title = st.container(width="stretch")
            view = controls.views_of_head()
        if view == controls.STEPS:
            _steps(live, trace, place, title)
            return
        picture = st.container()
    with st.container(horizontal=True):
        options = controls.options(log=view == controls.MATRIX)
    pieces = [token.data for token in live.tokens]
    shown = _shown(trace, place, options)
    shares = controls.shares_of(scores, place.layer, place.head)
    with title:
        words = (
            figures.head_title(place.layer, place.head, shares)
            if view == controls.MATRIX
            else _reading_title(shown[place.token], pieces, place)
        )
        st.markdown(f"##### {markdown(words)}")
    with picture:
        if view == controls.MATRIX:
            _matrix(shown, pieces, place, options)
        else:
            arcs.arcs(
                pieces,
                shown,
                selected=place.token,
                key="arcs",
                label=words,
                on_select=controls.choose_token,
            )
    find(live, trace, place)
    reading, kinds = side_by_side(2, 1)
    with reading:
        controls.show_reading(shown[place.token], pieces, place.token, options)
    with kinds:
        controls.show_shares(shares, scores)


def find(live: Live, trace: Trace, place: Place) -> None:
    """Draw the search for the head in which the chosen token reads another one."""
    from engine.attention.patterns import readers

    pieces = [token.data for token in live.tokens]
    row = trace.pattern(place.layer)[place.head, place.token]
    with st.container(horizontal=True, vertical_alignment="center", key="find"):
        st.markdown(
            f"**Find the head** in which {markdown(quoted(pieces[place.token]))} (token "
            f"{place.token + 1}, chosen above) reads",
            width="content",
        )
        read = controls.pick_read(place.token, pieces, controls.telling_read(row, place.token))
    selected = (place.layer, place.head)
    finding.show_readers(readers(trace, place.token, read), pieces, selected=selected)


def _steps(live: Live, trace: Trace, place: Place, title: Any) -> None:
    from engine.attention.head_steps import head_steps

    with title:
        st.markdown(f"##### Head {place.head} of layer {place.layer}, step by step")
    step = choose_step(live.model.architecture.positions)
    run = head_steps(trace, place.layer, place.head)
    rotated = results.rotated_pairs(live.model.source)
    show_step(step, run, [token.data for token in live.tokens], place.token, rotated)


def _shown(trace: Trace, place: Place, options: controls.Options) -> Array:
    from engine.attention.patterns import without_first_token

    pattern = trace.pattern(place.layer)[place.head]
    if options.without_first:
        pattern = without_first_token(pattern)
    return figures.shown_pattern(
        pattern, trace.masks[place.layer], without_first=options.without_first
    )


def _reading_title(row: Array, pieces: list[bytes], place: Place) -> str:
    """Say what the chosen token reads most in this head."""
    where = f"head {place.head} of layer {place.layer}"
    if not np.isfinite(row).any():
        return f"In {where} {quoted(pieces[place.token])} has nothing else to read"
    best = int(np.nanargmax(row))
    return (
        f"In {where} {quoted(pieces[place.token])} reads {quoted(pieces[best])} most: "
        f"{percent(float(row[best]))} of its attention"
    )


def _matrix(shown: Array, pieces: list[bytes], place: Place, options: controls.Options) -> None:
    """Draw a head's pattern as a matrix; a click spells a cell out."""

    def choose(event: Any) -> None:
        cell = selected_cell(event, shown)
        if cell is not None:
            controls.go_to_cell(*cell)

    chart(
        figures.pattern_figure(
            shown,
            pieces,
            title="Each row's token reads the columns' tokens",
            key="pattern",
            selected=(place.token, controls.read_position(shown[place.token])),
            log=options.log,
        ),
        key="pattern",
        alt=f"Attention pattern of layer {place.layer}, head {place.head}",
        on_select=choose,
    )
