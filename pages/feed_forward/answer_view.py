"""When the answer appears: its rank and readings layer by layer, then those of every token."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from components.feed_forward import residual_stream
from components.interpret import lens as lens_view
from components.interpret.lens_strip import lens_strip
from components.kit.layout import FULL
from components.kit.show import chart
from components.kit.text import markdown, quoted
from pages.frame import results

if TYPE_CHECKING:
    from engine.tracing.trace import Trace
    from pages.frame.live import Live


def show(live: Live, trace: Trace, layer: int, token: int) -> None:
    """Draw the view.

    Args:
        live: the prompt.
        trace: its pass.
        layer: the chosen layer.
        token: the chosen token.
    """
    from engine.basics.distribution import top
    from engine.interpret.attribution import attribution

    tokenizer, pieces = live.model.tokenizer, [token.data for token in live.tokens]
    bytes_of, layers = tokenizer.bytes_of, live.model.architecture.layers
    places = lens_view.window(len(live.ids), token)
    column = places.index(token)
    picture = st.container(key="main_picture", gap="xsmall")
    best = [int(i) for i in top(trace.logits_at(token), 10).ids]
    followed = lens_view.answer_selector(best, bytes_of, tokenizer.encode)
    with picture, st.spinner("Reading every layer …"):
        grid = results.lens_grid(live.model.source, live.ids, places)
        path = results.token_path(live.model.source, live.ids, followed, token)
        title = lens_view.path_title(path, quoted(bytes_of(followed)))
        st.markdown(f"##### {markdown(title)}")
        chart(
            lens_view.path_figure(path, layer=layer, key="path"),
            key="path",
            alt=title,
            room=FULL,
        )
        lens_strip(
            grid,
            column,
            path,
            bytes_of,
            selected=layer,
            key="readings",
            on_select=partial(residual_stream.go_to_layer, layers=layers),
        )
    figure = lens_view.lens_figure(grid, pieces, bytes_of, selected=(layer, column), key="lens")
    choose, alt = partial(lens_view.choose_reading, grid=grid), "The top token after every layer"
    chart(figure, key="lens", alt=alt, on_select=choose, room=FULL)
    found = attribution(trace, followed, token)
    lens_view.show_attribution(found, bytes_of(followed), layer=layer)
