"""Attention: which earlier tokens each token reads, head by head."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components.attention import arcs, controls, depth, figures
from components.attention.cell import show_cell
from components.attention.steps import choose_step, show_step
from components.kit.arrays import Array
from components.kit.heatmap import selected_cell
from components.kit.layout import side_by_side
from components.kit.mosaic import selected_head
from components.kit.show import chart
from components.kit.tasks import Task
from components.kit.text import markdown
from components.link import keys
from engine.attention import patterns
from engine.attention.head_steps import head_steps
from pages.attention import cache_view
from pages.frame import frame, results
from pages.interpret import knockout

live = frame.live_prompt()
trace = live.trace()
pieces = [token.data for token in live.tokens]
shape = live.model.architecture
scores = results.head_scores(live.model.source, live.ids)
frame.selection(live, layer=True, head=True, token=True, start=controls.first_head(scores))
layer, head, token = (st.session_state[key] for key in (keys.LAYER, keys.HEAD, keys.TOKEN))
shares = controls.shares_of(scores, layer, head)


def visual() -> None:
    """Draw all heads, one head or one cell; a click leads down, the row of levels up."""
    level, options = controls.levels()
    if level == controls.ALL:
        all_heads(options)
    elif level == controls.CELL:
        one_cell()
    elif level == controls.CACHE:
        cache_view.show(live, trace, head)
    elif level == controls.AWAY:
        knockout.show(live, scores)
    elif options.picture == controls.STEPS:
        step, run = choose_step(shape.positions), head_steps(trace, layer, head)
        rotated = results.rotated_pairs(live.model.source, live.model)
        show_step(step, run, pieces, token, rotated)
    else:
        one_head(options)


def all_heads(options: controls.Options) -> None:
    """Draw the mosaic and say where to look."""

    def choose(event: Any) -> None:
        place = selected_head(event, shape.layers, shape.heads)
        if place is not None:
            controls.go_to_head(*place)

    maps = results.pattern_overview(live.model.source, live.ids, options.without_first).maps
    chart(
        figures.mosaic_figure(
            maps,
            title=controls.mosaic_title(scores, options),
            key="mosaic",
            selected=(layer, head),
            log=options.log,
        ),
        key="mosaic",
        alt="The attention patterns of all heads, side by side",
        on_select=choose,
    )
    controls.finder(scores)


def one_head(options: controls.Options) -> None:
    """Draw the chosen head's pattern, and what the chosen token reads."""
    pattern = trace.pattern(layer)[head]
    if options.without_first:
        pattern = patterns.without_first_token(pattern)
    shown = figures.shown_pattern(pattern, trace.masks[layer], without_first=options.without_first)
    title = figures.head_title(layer, head, shares)
    st.markdown(f"#### {markdown(title)}")
    picture, words = side_by_side(2, 1)
    with picture:
        if options.picture == controls.ARCS:
            arcs.arcs(
                pieces,
                shown,
                selected=token,
                key="arcs",
                label=title,
                on_select=controls.choose_token,
            )
        else:
            matrix(shown, options)
    with words:
        controls.show_reading(shown[token], pieces, token, options)
        controls.show_shares(shares, scores)


def matrix(shown: Array, options: controls.Options) -> None:
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
            selected=(token, controls.read_position(shown[token])),
            log=options.log,
        ),
        key="pattern",
        alt=f"Attention pattern of layer {layer}, head {head}",
        on_select=choose,
    )


def one_cell() -> None:
    """Spell out how much the chosen token reads another."""
    read = controls.read_slider(token, trace.pattern(layer)[head, token])
    terms = patterns.score_terms(trace, layer, head, token, read)
    value = trace.v[layer, terms.kv_head, read]
    show_cell(terms, value, pieces, query=token, read=read, layer=layer, head=head)


def in_depth() -> None:
    """Show the formula with this prompt's numbers."""
    read = controls.read_position(trace.pattern(layer)[head, token])
    terms = patterns.score_terms(trace, layer, head, token, read)
    depth.show(shape, terms, tokens=len(live.ids), place=(layer, head, token, read))


def tasks() -> list[Task]:
    """Return what to try."""
    found = depth.tasks(trace.pattern(layer)[head], token, shares, place=(layer, head))
    away = knockout.task(live, part="h", bits=0.3, text=depth.AWAY_TASK)
    return [*found, away]


frame.views(visual, in_depth, tasks)
