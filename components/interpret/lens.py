"""When does the answer appear? One token's path, the logit lens, and what raised its score."""

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
from components.kit.layout import FULL
from components.kit.lines import lines
from components.kit.show import chart
from components.kit.text import markdown, quoted, visible
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


def settled(ids: Array) -> int:
    """Return after how many layers the top token stays what it is at the end."""
    differ = np.flatnonzero(ids != ids[-1])
    return int(differ[-1]) + 1 if len(differ) else 0


def lens_figure(
    grid: LensGrid,
    pieces: Sequence[bytes],
    bytes_of: BytesOf,
    *,
    selected: tuple[int, int],
    key: str,
) -> go.Figure:
    """Draw the likeliest token after every layer; the colour is each column's own answer's.

    Args:
        grid: the readings.
        pieces: the prompt's tokens.
        bytes_of: gives a token's bytes.
        selected: the chosen (layers passed, column).
        key: the chart's key.
    """
    labels = [
        f"{label} <span style='font-size:10px;opacity:0.6'>{position + 1}</span>"
        for position, label in zip(
            grid.positions, token_labels([pieces[i] for i in grid.positions], 8), strict=True
        )
    ]
    rows = len(grid.ids)
    figure = heatmap(
        # The root lets the small probabilities of middle layers show; at the strongest colour the
        # words are still read.
        np.sqrt(grid.answer_probabilities),
        [str(row) for row in range(rows)],
        labels,
        title="Every token has an answer of its own: the bluer, the more probable it is there",
        key=key,
        low=0.0,
        high=1.5,
        row_name="layers passed:",
        col_name="after",
        value_name="its answer has",
        selected=selected,
        height=130 + 24 * rows,
        texts=[[visible(bytes_of(int(i)), limit=9) for i in row] for row in grid.ids],
    )
    figure.data[0].update(showscale=False)
    cells = figure.data[1]
    if cells.customdata is not None:
        cells.update(
            customdata=packed(grid.answer_probabilities.ravel()),
            hovertemplate=cells.hovertemplate.replace(":.3f", f":{share_format(2)}"),
        )
    figure.update_yaxes(title="layers passed")
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


def show_attribution(found: Attribution, piece: bytes, *, layer: int) -> None:
    """Draw what raised a token's score, and write it as a sum.

    Args:
        found: its score as a sum.
        piece: its bytes.
        layer: the chosen layer, marked.
    """
    name = quoted(piece)
    chart(
        attribution_figure(found, name, layer=layer, key="attribution"),
        key="attribution",
        alt=f"What each layer adds to the score of {name}",
        room=FULL,
    )
    st.caption(sum_words(found, markdown(name)))


def path_title(path: TokenPath, name: str) -> str:
    """Say how a token comes to the top, or does not.

    Args:
        path: its readings.
        name: the token, in quotation marks.
    """
    ranks = np.asarray(path.ranks)
    last, start, end = len(ranks) - 1, int(ranks[0]), int(ranks[-1])
    if end != 1:
        return f"{name} goes from rank {start:,} to {end:,}: something else leads in the end"
    since = settled(ranks)
    if start == 1:
        return f"{name} begins at rank 1 and leads in the end"
    when = "only in the last layer" if since == last else f"from layer {since} of {last} on"
    return f"{name} climbs from rank {start:,} to 1, {when}"


def path_figure(path: TokenPath, *, layer: int, key: str) -> go.Figure:
    """Draw a token's probability and rank after every layer; `path_title` is its title.

    Args:
        path: the token's readings.
        layer: the chosen layer, marked.
        key: the chart's key.
    """
    figure = lines(
        {"rank": path.ranks.astype(np.float32)},
        title="",
        key=key,
        x_title="layers passed",
        y_title="rank (1 is on top)",
        log=True,
        selected=layer,
        number_format=",.0f",
        height=260,
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
    # Each axis has the colour of its line, so no legend takes room.
    figure.update_yaxes(title_font_color=theme.CATEGORICAL[0])
    figure.update_layout(
        margin={"t": 14},
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "range": [-0.02, 1.02],
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "tickformat": share_format(),
            "showgrid": False,
            "title": {"text": "probability (dashed)", "font": {"color": colour}},
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
