"""Embedding page, look-up: the row, its nearest rows, all cosines, and a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.arrays import Array
from components.kit.bars import bars
from components.kit.figure import frame, packed, token_labels
from components.kit.heatmap import heatmap
from components.kit.layout import side_by_side
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import markdown, visible
from components.kit.text import plotly as escape
from components.kit.vector_strip import strip

if TYPE_CHECKING:
    from engine.embedding.table import EmbeddingMap, Neighbours

LABELLED = 60
"""The most tokens whose names stand in the map; others show theirs on hover."""


@dataclass(frozen=True, eq=False)
class LookUp:
    """What the page asked the engine for, for one token of the prompt."""

    token_id: int
    row: Array
    """[D], its row of the table."""
    head_row: Array
    """[D], its row of the LM head's matrix."""
    logit: float
    """Its score after the prompt."""
    near: Neighbours
    near_pieces: Sequence[bytes]
    flat: EmbeddingMap
    flat_pieces: Sequence[bytes]
    cosines: Array
    """[T, T], between every two tokens of the prompt."""


def show(found: LookUp, pieces: Sequence[bytes], index: int, *, tied: bool) -> None:
    """Draw the whole look.

    Args:
        found: of the chosen token.
        pieces: bytes of the prompt's T tokens.
        index: the chosen token's position.
        tied: whether the LM head uses the same table.
    """
    piece = pieces[index]
    left, right = side_by_side(1, 1)
    with left:
        figure = nearest_figure(found.near, found.near_pieces, piece, "nearest")
        chart(figure, key="nearest", alt="The tokens with the most similar rows and their cosines")
        st.caption(
            "A bar says how alike two rows are (cosine): 1 is the same direction, 0 nothing in "
            "common. Nobody told the model which words belong together; training gave like rows "
            "to tokens that are used alike."
        )
    with right:
        figure = map_figure(found.flat, found.flat_pieces, found.token_id, "map")
        chart(figure, key="map", alt="The prompt's tokens and their neighbours on a plane")
    show_row(found.row, index=index, token_id=found.token_id, piece=piece)
    show_ties(found.row, found.head_row, found.logit, piece, tied=tied)
    figure = cosine_figure(found.cosines, pieces, index, "cosines")
    chart(figure, key="cosines", alt="The cosine between every two tokens of the prompt")


def show_row(row: Array, *, index: int, token_id: int, piece: bytes) -> None:
    """Draw one token's row of the table as a strip of numbers.

    Args:
        row: [D].
        index: the token's position in the prompt.
        token_id: its id, which is the number of the row.
        piece: its bytes.
    """
    width, norm = len(row), float(np.linalg.norm(row))
    chart(
        strip(
            row,
            title=f"{visible(piece)} is row {token_id:,} of the table: {width} numbers, "
            f"length (norm) {norm:.2f}",
            key="embedding_row",
        ),
        key="embedding_row",
        alt=f"The {width} numbers of the embedding of token {index + 1}",
    )


def show_ties(row: Array, head_row: Array, logit: float, piece: bytes, *, tied: bool) -> None:
    """Say whether the LM head uses the same table, and show it.

    Args:
        row: the token's row of the embedding table, [D].
        head_row: the token's row of the LM head's matrix, [D].
        logit: the token's score after the prompt.
        piece: its bytes.
        tied: whether the two are one.
    """
    name = markdown(visible(piece))
    numbers = ", ".join(f"{value:.3f}" for value in row[:4])
    if tied:
        gap = float(np.abs(row - head_row).max())
        st.markdown(
            f"**One table, used twice (tied).** The row begins {numbers}, … The last step (LM head)"
            f" multiplies the final vector with this very row to score {name} as the next token: "
            f"logit {logit:.2f}. Largest difference between the two rows: {gap:g}."
        )
        return
    cosine = float(row @ head_row / max(np.linalg.norm(row) * np.linalg.norm(head_row), 1e-12))
    st.markdown(
        f"**Two tables (not tied).** The row begins {numbers}, … The last step (LM head) scores "
        f"{name} with a row of a table of its own: logit {logit:.2f}. Cosine between the two rows: "
        f"{cosine:.2f}."
    )


def nearest_figure(near: Neighbours, pieces: Sequence[bytes], piece: bytes, key: str) -> go.Figure:
    """Return the tokens whose rows point most nearly the same way, as bars of cosines."""
    named = ", ".join(visible(other) for other in pieces[:3])
    best = f"{named} (cosine {near.cosines[0]:.2f} and less)" if len(pieces) else "nothing"
    return bars(
        [int(token) for token in near.ids],
        pieces,
        near.cosines,
        title=f"Nearest to {visible(piece)}: {best}",
        height=340,
        key=key,
        percent=False,
        high=1.0,
        value_name="cosine",
    )


def cosine_figure(cosines: Array, pieces: Sequence[bytes], selected: int, key: str) -> go.Figure:
    """Return the cosine between every two of the prompt's rows, [T, T]."""
    others = np.where(cosines > 0.9999, -np.inf, cosines)
    labels = token_labels(pieces)
    title = "All tokens of the prompt are the same"
    if np.isfinite(others.max(initial=-np.inf)):
        one, other = divmod(int(others.argmax()), len(others))
        title = (
            f"Most alike in this prompt: {visible(pieces[one])} and {visible(pieces[other])}, "
            f"cosine {cosines[one, other]:.2f}"
        )
    return heatmap(
        cosines,
        labels,
        labels,
        title=title,
        key=key,
        low=-1.0,
        high=1.0,
        row_name="token",
        col_name="token",
        value_name="cosine",
        number_format=".2f",
        selected=(selected, selected),
    )


def apart(points: Array, names: Sequence[str], *, first: Array) -> list[str]:
    """Return the names, "" for those that would be written over another; a hover shows them all.

    Args:
        points: [N, 2], where they stand.
        names: one per point, escaped.
        first: the order in which they get their place.
    """
    # Where the names stand on the screen: on a plot of about this many pixels.
    low, high = points.min(axis=0), points.max(axis=0)
    at = (points - low) / np.maximum(high - low, 1e-9) * np.array([340.0, 300.0])
    shown = [""] * len(names)
    taken: list[tuple[float, float, float]] = []
    for index in (int(i) for i in first):
        x, y, half = float(at[index, 0]), float(at[index, 1]), 4.0 * len(unescape(names[index]))
        if all(abs(x - x2) > half + half2 or abs(y - y2) > 15 for x2, y2, half2 in taken):
            shown[index] = names[index]
            taken.append((x, y, half))
    return shown


def map_figure(
    flat: EmbeddingMap, pieces: Sequence[bytes], selected_id: int, key: str
) -> go.Figure:
    """Return the prompt's tokens and their neighbours on a plane (PCA).

    Args:
        flat: where each stands.
        pieces: bytes of each token of the map.
        selected_id: the chosen token's id.
        key: the chart's key.
    """
    shown = float(flat.explained.sum())
    figure = frame(
        f"A flat map of {len(pieces)} rows: it keeps {percent(shown)} of their differences",
        height=430,
        revision=key,
    )
    names = [escape(visible(piece, limit=14)) for piece in pieces]
    sizes = [13 if asked else 7 for asked in flat.asked]
    colours = [
        theme.PICKED if token == selected_id else theme.ACCENT if asked else theme.NEUTRAL
        for token, asked in zip(flat.ids.tolist(), flat.asked.tolist(), strict=True)
    ]
    figure.add_trace(
        go.Scatter(
            x=packed(flat.points[:, 0]),
            y=packed(flat.points[:, 1]),
            mode="markers+text" if len(pieces) <= LABELLED else "markers",
            text=apart(flat.points, names, first=np.argsort(np.negative(sizes), kind="stable")),
            hovertext=names,
            textposition="top center",
            textfont={"size": 12, "color": theme.TEXT},
            marker={"size": sizes, "color": colours},
            customdata=flat.ids.astype(np.int32),
            hovertemplate="%{hovertext}<br>id %{customdata}<extra></extra>",
        )
    )
    for name, axis, part in (
        ("first direction", figure.update_xaxes, flat.explained[0]),
        ("second direction", figure.update_yaxes, flat.explained[1]),
    ):
        axis(
            title=f"{name} ({percent(float(part))})",
            showgrid=False,
            zeroline=True,
            showticklabels=False,
        )
    return figure
