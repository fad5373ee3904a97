"""What all Plotly figures share: the frame, labels, the way into the page, and clicks out of it.

The rules: tokens are never categories but integer positions with escaped labels; arrays stay
packed; ranges and scales are fixed; every chart has a key, a text for those who can't see it and
a width that follows the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.fitting import TITLE_PAD, fit
from components.kit.layout import HALF
from components.kit.text import plotly as escape
from components.kit.text import visible

LABEL = 14
"""The most signs of a token in a tick label."""

# d3 writes 77%. Its `$` puts the locale's currency in place of the percent sign, and there is no
# other way to have a space before it that also holds when the reader zooms.
_LOCALES: Mapping[str, Any] = {"en-US": {"format": {"currency": ["", " %"]}}}

_CONFIG: Mapping[str, Any] = {
    "locales": _LOCALES,
    "displaylogo": False,
    "displayModeBar": "hover",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    "scrollZoom": False,
    "typesetMath": False,
}


_TICKS: Mapping[str, Any] = {"size": 13, "color": theme.TEXT}
_TOP: Mapping[str, Any] = {"y": 1, "yanchor": "top", "pad": {"t": TITLE_PAD}}


def frame(title: str, *, height: int, revision: str, **layout: Any) -> go.Figure:
    """Return an empty figure.

    Args:
        title: what is seen, with the numbers; plain text, escaped here.
        height: in pixels.
        revision: while this stays, the zoom stays (Plotly's `uirevision`).
        layout: more of Plotly's layout.
    """
    return go.Figure(
        layout={
            "title": {"text": escape(title), "font": {"size": 16}, **_TOP},
            "height": height,
            "uirevision": revision,
            "hovermode": "closest",
            "dragmode": False,
            "showlegend": False,
            "margin": {"l": 8, "r": 8, "t": 44, "b": 8},
            "xaxis": {"tickfont": _TICKS},
            "yaxis": {"tickfont": _TICKS},
            **layout,
        }
    )


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


def selected_points(event: Any) -> list[Mapping[str, Any]]:
    """Return the points of an event of `st.plotly_chart`; none if it is not one."""
    selection = event.get("selection") if isinstance(event, Mapping) else None
    points = selection.get("points") if isinstance(selection, Mapping) else None
    return [point for point in points or [] if isinstance(point, Mapping)]


def chosen_index(event: Any, count: int, *, curve: int | None = None) -> int | None:
    """Return the number of the first chosen point of trace `curve`, or None.

    Args:
        event: of `st.plotly_chart`, or from the session state.
        count: how many points there are; other numbers are refused.
        curve: the trace's number; None takes any.
    """
    for point in selected_points(event):
        number = point.get("point_index", point.get("point_number"))
        ours = curve is None or point.get("curve_number") == curve
        if ours and type(number) is int and 0 <= number < count:
            return number
    return None


def token_labels(pieces: Sequence[str | bytes], limit: int = LABEL) -> list[str]:
    """Return tick labels for tokens: visible, shortened, escaped. Equal ones may occur twice."""
    return [escape(visible(piece, limit=limit)) for piece in pieces]


def token_axis(labels: Sequence[str], *, most: int = 48) -> dict[str, Any]:
    """Return an axis of integer positions 0…n-1 under these (escaped) labels.

    Beyond `most` tokens only every second, fifth, … position is labelled, by its number.
    """
    count = len(labels)
    if count <= most:
        positions: Sequence[int] = range(count)
        texts = list(labels)
    else:
        step = next(s for s in (5, 10, 20, 50, 100, 500, 1000) if count / s <= 30 or s == 1000)
        positions = range(0, count, step)
        texts = [str(position) for position in positions]
    return {
        "tickmode": "array",
        "tickvals": list(positions),
        "ticktext": texts,
        "showgrid": False,
        "zeroline": False,
        "range": [-0.5, count - 0.5],
    }


def share_format(digits: int = 0) -> str:
    """Return the format of a share for Plotly's ticks and hover texts: 77 %, as in `percent`."""
    return f"$.{digits}%"


def packed(values: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return float32 values, which Plotly sends packed instead of as a list of numbers."""
    return np.ascontiguousarray(values, dtype=np.float32)


def payload(figure: go.Figure) -> int:
    """Return how many bytes the figure sends to the browser."""
    return len(str(figure.to_json(validate=False)).encode())


def frame_box(figure: go.Figure, row: float, col: float, *, size: float = 1.0) -> None:
    """Draw the frame of what is selected around a square cell of that size at (row, col)."""
    figure.add_shape(
        type="rect",
        x0=col - size / 2,
        x1=col + size / 2,
        y0=row - size / 2,
        y1=row + size / 2,
        line={"color": theme.PICKED, "width": 3},
    )
