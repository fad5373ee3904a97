"""Attention: which earlier tokens each token reads, head by head."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from components import arcs, attention_depth, attention_figures, attention_view, state
from components.attention_cell import show_cell
from components.attention_steps_view import choose_step, show_step
from components.chart import chart
from components.heatmap import selected_cell
from components.layout import side_by_side
from components.mosaic import selected_head
from components.text import markdown
from engine import attention
from engine.attention_steps import head_steps
from pages.shared import cache_panel, derived, frame, knockout_panel

live = frame.live_prompt()
trace = live.trace()
pieces = [token.data for token in live.tokens]
shape = live.model.architecture
scores = derived.head_scores(live.model.source, live.ids)
frame.selection(live, layer=True, head=True, token=True, start=attention_view.first_head(scores))
layer, head, token = (st.session_state[key] for key in (state.LAYER, state.HEAD, state.TOKEN))
shares = attention_view.shares_of(scores, layer, head)


def visual() -> None:
    """Draw all heads, one head or one cell; a click leads down, the row of levels up."""
    level, options = attention_view.levels()
    if level == attention_view.ALL:
        all_heads(options)
    elif level == attention_view.CELL:
        one_cell()
    elif level == attention_view.CACHE:
        cache_panel.show(live, trace, head)
    elif level == attention_view.AWAY:
        knockout_panel.show(live, scores)
    elif options.picture == attention_view.STEPS:
        step, run = choose_step(shape.positions), head_steps(trace, layer, head)
        rotated = derived.rotated_pairs(live.model.source, live.model)
        show_step(step, run, pieces, token, rotated)
    else:
        one_head(options)


def all_heads(options: attention_view.Options) -> None:
    """Draw the mosaic and say where to look."""

    def choose(event: Any) -> None:
        place = selected_head(event, shape.layers, shape.heads)
        if place is not None:
            attention_view.go_to_head(*place)

    maps = derived.pattern_overview(live.model.source, live.ids, options.without_first).maps
    chart(
        attention_figures.mosaic_figure(
            maps,
            title=attention_view.mosaic_title(scores, options),
            key="mosaic",
            selected=(layer, head),
            log=options.log,
        ),
        key="mosaic",
        alt="The attention patterns of all heads, side by side",
        on_select=choose,
    )
    attention_view.finder(scores)


def one_head(options: attention_view.Options) -> None:
    """Draw the chosen head's pattern, and what the chosen token reads."""
    pattern = trace.pattern(layer)[head]
    if options.without_first:
        pattern = attention.without_first_token(pattern)
    shown = attention_figures.shown_pattern(
        pattern, trace.masks[layer], without_first=options.without_first
    )
    title = attention_figures.head_title(layer, head, shares)
    st.markdown(f"#### {markdown(title)}")
    picture, words = side_by_side(2, 1)
    with picture:
        if options.picture == attention_view.ARCS:
            arcs.arcs(
                pieces,
                shown,
                selected=token,
                key="arcs",
                label=title,
                on_select=attention_view.choose_token,
            )
        else:
            matrix(shown, options)
    with words:
        attention_view.show_reading(shown[token], pieces, token, options)
        attention_view.show_shares(shares, scores)


def matrix(shown: np.ndarray[Any, Any], options: attention_view.Options) -> None:
    """Draw a head's pattern as a matrix; a click spells a cell out."""

    def choose(event: Any) -> None:
        cell = selected_cell(event, shown)
        if cell is not None:
            attention_view.go_to_cell(*cell)

    chart(
        attention_figures.pattern_figure(
            shown,
            pieces,
            title="Each row's token reads the columns' tokens",
            key="pattern",
            selected=(token, attention_view.read_position(shown[token])),
            log=options.log,
        ),
        key="pattern",
        alt=f"Attention pattern of layer {layer}, head {head}",
        on_select=choose,
    )


def one_cell() -> None:
    """Spell out how much the chosen token reads another."""
    read = attention_view.read_slider(token, trace.pattern(layer)[head, token])
    terms = attention.score_terms(trace, layer, head, token, read)
    value = trace.v[layer, terms.kv_head, read]
    show_cell(terms, value, pieces, query=token, read=read, layer=layer, head=head)


def in_depth() -> None:
    """Show the formula with this prompt's numbers."""
    read = attention_view.read_position(trace.pattern(layer)[head, token])
    terms = attention.score_terms(trace, layer, head, token, read)
    attention_depth.show(shape, terms, tokens=len(live.ids), place=(layer, head, token, read))


def tasks() -> list[frame.Task]:
    """Return what to try."""
    found = attention_depth.tasks(trace.pattern(layer)[head], token, shares, place=(layer, head))
    away = knockout_panel.task(live, part="h", bits=0.3, text=attention_depth.AWAY_TASK)
    return [frame.Task(*task) for task in (*found, away)]


frame.views(visual, in_depth, tasks)
