"""Attention: which earlier tokens each token reads, head by head."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from components.attention import controls, depth, figures
from components.attention.cell import show_cell
from components.kit.mosaic import selected_head
from components.kit.show import chart
from components.kit.tasks import Task
from components.link import keys
from engine.attention import patterns
from engine.observe.edits import KnockOutHead
from pages.attention import cache_view, guess, head_view
from pages.attention.head_view import Place
from pages.frame import frame, results
from pages.interpret import knockout

live = frame.live_prompt()
trace = live.trace()
pieces = [token.data for token in live.tokens]
shape = live.model.architecture
scores = results.head_scores(live.model.source, live.ids)


def select() -> Place:
    """Draw the choice of layer, head and token, and return what is chosen."""
    start = results.telling_head(live.model.source, live.ids)
    frame.selection(live, layer=True, head=True, token=True, start=start)
    return Place(*(st.session_state[key] for key in (keys.LAYER, keys.HEAD, keys.TOKEN)))


def visual() -> None:
    """Draw all heads, one head or one cell; a click leads down, the row of levels up."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        level = controls.levels()
        place = select()
    draw: dict[str, Callable[[], None]] = {
        controls.ALL: lambda: all_heads(place),
        controls.HEAD: lambda: head_view.show(live, trace, place, scores),
        controls.CELL: lambda: one_cell(place),
        controls.CACHE: lambda: cache_view.show(live, trace, place.head),
        controls.AWAY: lambda: knockout.show(live, scores),
    }
    draw[level]()


def all_heads(place: Place) -> None:
    """Draw the mosaic and say where to look."""

    def choose(event: Any) -> None:
        chosen = selected_head(event, shape.layers, shape.heads)
        if chosen is not None:
            controls.go_to_head(*chosen)

    picture = st.container(key="main_picture")
    with st.container(horizontal=True):
        options = controls.options(log=True)
    maps = results.pattern_overview(live.model.source, live.ids, options.without_first).maps
    with picture:
        chart(
            figures.mosaic_figure(
                maps,
                title=controls.mosaic_title(scores, options),
                key="mosaic",
                selected=(place.layer, place.head),
                log=options.log,
            ),
            key="mosaic",
            alt="The attention patterns of all heads, side by side",
            on_select=choose,
        )
    controls.finder(scores)
    head_view.find(live, trace, place)


def one_cell(place: Place) -> None:
    """Spell out how much the chosen token reads another."""
    row = trace.pattern(place.layer)[place.head, place.token]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("It reads", width="content")
        read = controls.pick_read(place.token, pieces, int(row.argmax()))
    terms = patterns.score_terms(trace, place.layer, place.head, place.token, read)
    value = trace.v[place.layer, terms.kv_head, read]
    with st.container(key="main_picture"):
        show_cell(
            terms, value, pieces, query=place.token, read=read, layer=place.layer, head=place.head
        )


def in_depth() -> None:
    """Show the formula with this prompt's numbers."""
    place = select()
    read = controls.read_position(trace.pattern(place.layer)[place.head, place.token])
    terms = patterns.score_terms(trace, place.layer, place.head, place.token, read)
    spot = (place.layer, place.head, place.token, read)
    depth.show(shape, terms, tokens=len(live.ids), place=spot)


def tasks() -> list[Task]:
    """Return what to try."""
    place = select()
    shares = controls.shares_of(scores, place.layer, place.head)
    pattern = trace.pattern(place.layer)[place.head]
    found = depth.tasks(pattern, place.token, shares, place=(place.layer, place.head))
    place_away = {keys.ATTENTION_PART: controls.AWAY}
    away = knockout.task(live, part=KnockOutHead, bits=0.3, text=depth.AWAY_TASK, place=place_away)
    return [*found, away]


frame.views(visual, in_depth, tasks, lambda: guess.ask(live))
