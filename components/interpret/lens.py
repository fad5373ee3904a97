"""When does the answer appear? The logit lens, one token's path, and what raised its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.arrays import Array
from components.kit.figure import frame, packed, share_format, token_labels
from components.kit.heatmap import heatmap, selected_cell
from components.kit.layout import side_by_side
from components.kit.lines import lines
from components.kit.show import chart
from components.kit.text import markdown, visible
from components.kit.text import plotly as escape
from components.link import keys, widgets

if TYPE_CHECKING:
    from engine.interpret.attribution import Attribution
    from engine.interpret.lens import LensGrid, TokenPath

BytesOf = Callable[[int], bytes]

COLUMNS = 8
"""Positions that the lens shows at once, so that each cell can hold its word."""


def window(tokens: int, chosen: int) -> tuple[int, ...]:
    """Return the positions that the lens shows: up to `COLUMNS`, with the chosen one."""
    end = max(min(tokens, COLUMNS), chosen + 1)
    return tuple(range(max(0, end - COLUMNS), end))


def lens_title(grid: LensGrid, column: int, bytes_of: BytesOf) -> str:
    """Say from which layer on the lens names the final token."""
    ids = grid.ids[:, column]
    final = int(ids[-1])
    since = settled(ids)
    name = visible(bytes_of(final), limit=14)
    if since == len(ids) - 1:
        return f"{name} comes out on top only after the last block"
    return f"{name} is on top from block {since} of {len(ids) - 1} on"


def settled(ids: Array) -> int:
    """Return after how many blocks the top token stays what it is at the end."""
    differ = np.flatnonzero(ids != ids[-1])
    return int(differ[-1]) + 1 if len(differ) else 0


def lens_figure(
    grid: LensGrid,
    pieces: Sequence[bytes],
    bytes_of: BytesOf,
    *,
    selected: tuple[int, int],
    title: str,
    key: str,
) -> go.Figure:
    """Draw the likeliest token after every block, its probability as colour.

    Args:
        grid: the readings.
        pieces: the prompt's tokens.
        bytes_of: gives a token's bytes.
        selected: the chosen (blocks passed, column).
        title: what is seen.
        key: the chart's key.
    """
    labels = [
        f"{label} <span style='font-size:10px;opacity:0.6'>{position}</span>"
        for position, label in zip(
            grid.positions, token_labels([pieces[i] for i in grid.positions], 8), strict=True
        )
    ]
    rows = len(grid.ids)
    figure = heatmap(
        grid.probabilities,
        [str(row) for row in range(rows)],
        labels,
        title=title,
        key=key,
        low=0.0,
        high=1.0,
        row_name="after block",
        col_name="token",
        value_name="probability",
        selected=selected,
        height=110 + 21 * rows,
    )
    words = [[escape(visible(bytes_of(int(i)), limit=9)) for i in row] for row in grid.ids]
    figure.data[0].update(
        text=words, texttemplate="%{text}", textfont={"size": 12, "color": theme.TEXT}
    )
    figure.data[0].colorbar.update(tickformat=share_format())
    figure.update_yaxes(title="blocks passed")
    figure.update_xaxes(tickangle=0)
    return figure


def choose_reading(event: Any, grid: LensGrid) -> None:
    """Take the layer and the token of a clicked reading; for callbacks."""
    cell = selected_cell(event, np.asarray(grid.probabilities))
    if cell is not None:
        layers = len(grid.ids) - 1
        st.session_state[keys.LAYER] = min(cell[0], layers - 1)
        st.session_state[keys.TOKEN] = grid.positions[cell[1]]


def answer_selector(ids: Sequence[int], bytes_of: BytesOf, encode: Callable[[str], Any]) -> int:
    """Draw the choice of the token to follow, and return it.

    Args:
        ids: the likeliest tokens.
        bytes_of: gives a token's bytes.
        encode: cuts a text into tokens; the first one counts.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        token = st.selectbox(
            "Follow the token",
            list(ids),
            format_func=lambda i: f"{visible(bytes_of(i), limit=20)} ({i})",
            key="answer_token",
        )
        typed = widgets.text(
            "or type another", key=keys.ANSWER_TYPED, placeholder="with leading space"
        )
    found = encode(typed) if typed else []
    return int(found[0].id) if found else int(token)


def show_token(path: TokenPath, found: Attribution, piece: bytes, *, layer: int) -> None:
    """Draw a token's path through the layers and what raised its score.

    Args:
        path: the token's readings.
        found: its score as a sum.
        piece: its bytes.
        layer: the chosen layer, marked.
    """
    name = visible(piece, limit=14)
    left, right = side_by_side(1, 1)
    with left:
        chart(
            path_figure(path, name, layer=layer, key="path"),
            key="path",
            alt=f"Rank and probability of {name} after every block",
        )
    with right:
        chart(
            attribution_figure(found, name, layer=layer, key="attribution"),
            key="attribution",
            alt=f"What each layer adds to the score of {name}",
        )
    st.caption(sum_words(found, markdown(name)))


def path_figure(path: TokenPath, name: str, *, layer: int, key: str) -> go.Figure:
    """Draw a token's probability and rank after every block.

    Args:
        path: the token's readings.
        name: the token, visible.
        layer: the chosen layer, marked.
        key: the chart's key.
    """
    first = np.flatnonzero(path.ranks == 1)
    start = f"{name} starts at rank {int(path.ranks[0]):,}"
    title = (
        f"{start} and is first after block {int(first[0])}"
        if len(first)
        else f"{start} and ends at rank {int(path.ranks[-1]):,}"
    )
    figure = lines(
        {"rank": path.ranks.astype(np.float32)},
        title=title,
        key=key,
        x_title="blocks passed",
        y_title="rank (1 is on top)",
        log=True,
        selected=layer,
        number_format=",.0f",
        height=300,
    )
    figure.update_yaxes(autorange="reversed")
    _add_probability(figure, path)
    return figure


def _add_probability(figure: go.Figure, path: TokenPath) -> None:
    """Draw the probability on an axis of its own, at the right."""
    colour = theme.CATEGORICAL[6]
    figure.add_trace(
        go.Scatter(
            x=list(range(len(path.probabilities))),
            y=packed(path.probabilities),
            yaxis="y2",
            name="probability",
            mode="lines+markers",
            line={"color": colour, "width": 2.5, "dash": "dash"},
            marker={"color": colour, "size": 7},
            hovertemplate=f"probability %{{y:{share_format(2)}}}<extra></extra>",
        )
    )
    figure.update_layout(
        showlegend=True,
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "range": [-0.02, 1.02],
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "tickformat": share_format(),
            "showgrid": False,
            "title": "probability",
        },
    )


def attribution_figure(found: Attribution, name: str, *, layer: int, key: str) -> go.Figure:
    """Draw what attention and feed-forward of each layer add to a token's score."""
    parts = [("attention", found.attention), ("feed-forward", found.mlp)]
    label, place = max(
        ((label, int(values.argmax())) for label, values in parts),
        key=lambda part: dict(parts)[part[0]][part[1]],
    )
    best = float(dict(parts)[label][place])
    figure = frame(
        f"The {label} of layer {place} raised {name} most: {best:+.1f}",
        height=300,
        revision=key,
        barmode="group",
        bargap=0.25,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin={"t": 64},
    )
    for (part, values), colour in zip(parts, (theme.ATTENTION, theme.FEED_FORWARD), strict=True):
        figure.add_trace(
            go.Bar(
                x=list(range(len(values))),
                y=packed(values),
                name=part,
                marker={"color": colour},
                hovertemplate=f"{part} of layer %{{x}}: %{{y:+.3f}}<extra></extra>",
            )
        )
    figure.add_vline(x=layer, line={"color": theme.PICKED, "width": 2, "dash": "dot"})
    figure.update_xaxes(title="layer", showgrid=False)
    figure.update_yaxes(title="added to the score")
    return figure


def sum_words(found: Attribution, name: str) -> str:
    """Write the score as the sum of its terms, as Markdown; `name` already escaped."""
    constant = f" {found.constant:+.3f} (biases)" if found.constant else ""
    return (
        f"**{name}:** {found.embedded:+.3f} (embedding) {float(found.attention.sum()):+.3f} "
        f"(attention of all layers) {float(found.mlp.sum()):+.3f} (feed-forward of all "
        f"layers){constant} = **{found.total:.3f}**; the model's own score is "
        f"**{found.dot:.3f}**. Each term is a part's direct effect, with the final norm's divisor "
        "held fixed; what a part changed in later parts counts as theirs."
    )
