"""Draw a Plotly figure on a page, at the width of its place, with its key and text alternative."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from components.kit.clicks import selected_points
from components.kit.fitting import enlarge, fit
from components.kit.layout import HALF
from components.kit.presenting import SCALE, presenting

# d3 writes 77%. Its `$` puts the locale's currency in place of the percent sign, and there is no
# other way to have a space before it that also holds when the reader zooms.
_LOCALES: Mapping[str, Any] = {"en-US": {"format": {"currency": ["", " %"]}}}

_CONFIG: Mapping[str, Any] = {
    "locales": _LOCALES,
    "displaylogo": False,
    "displayModeBar": "hover",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
    "scrollZoom": False,
    "typesetMath": False,
}


def chart(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    on_select: Callable[[Mapping[str, Any]], None] | None = None,
    room: int = HALF,
) -> None:
    """Draw a figure at the width of its place, with nothing cut off.

    Args:
        figure: from one of the figure modules.
        key: unique on the page.
        alt: what the figure shows, in a sentence, for screen readers.
        on_select: called with the event when a point is chosen, before the page's script runs
            again. Read the event with the figure module's own function. A chart forgets what was
            chosen as soon as its figure changes, so keep it and draw it.
        room: the pixels that the place has at least, from `components.kit.layout`.
    """
    if presenting():
        fit(figure, round(room / SCALE))
        enlarge(figure, SCALE)
    else:
        fit(figure, room)
    if on_select is None:
        st.plotly_chart(figure, width="stretch", key=key, alt=alt, config=dict(_CONFIG))
        return

    def selected() -> None:
        event = st.session_state[key]
        if selected_points(event):
            on_select(event)

    st.plotly_chart(
        figure,
        width="stretch",
        key=key,
        alt=alt,
        config=dict(_CONFIG),
        on_select=selected,
        selection_mode="points",
    )
