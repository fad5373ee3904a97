"""What all Plotly figures share: the empty figure, token labels and axes, packed arrays, frames.

Needs no Streamlit, so every figure can also be made in a notebook; `components.kit.show` draws it
on a page and `components.kit.clicks` reads what was clicked.

The rules: tokens are never categories but integer positions with escaped labels; arrays stay
packed; ranges and scales are fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.fitting import TITLE_PAD
from components.kit.text import plotly as escape
from components.kit.text import visible

LABEL = 14
"""The most signs of a token in a tick label."""

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
            # A column on the right: a row would lie over the title, and stays there under touch.
            "modebar": {"orientation": "v", "bgcolor": "rgba(0,0,0,0)"},
            "showlegend": False,
            "margin": {"l": 8, "r": 8, "t": 44, "b": 8},
            "xaxis": {"tickfont": _TICKS},
            "yaxis": {"tickfont": _TICKS},
            **layout,
        }
    )


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
