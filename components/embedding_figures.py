"""Embedding page: the row of the table, the angles by position and pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.chart import chart, token_labels
from components.heatmap import rope_table
from components.strips import strip
from components.text import markdown, visible

Array = np.ndarray[Any, Any]


def show_row(row: Array, *, index: int, token_id: int, piece: bytes, tied: bool) -> None:
    """Draw one token's row of the table as a strip of numbers.

    Args:
        row: [D].
        index: the token's position in the prompt.
        token_id: its id, which is the number of the row.
        piece: its bytes.
        tied: whether the LM head uses the same matrix.
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
        alt=f"The {width} numbers of the embedding of token {index}",
    )
    first = ", ".join(f"{value:.3f}" for value in row[:4])
    st.markdown(
        f"Token {index}, {markdown(visible(piece))}, has the id {token_id:,}. Row {token_id:,} of "
        f"the table begins {first}, … The same id always gets the same row, wherever it stands."
        + (
            " The last step of the model (LM head) multiplies with this very table: it is stored "
            "once and used twice (tied)."
            if tied
            else " The last step of the model (LM head) has a table of its own (not tied)."
        )
    )


def angle_figure(angles: Array, pieces: Sequence[bytes], *, token: int, key: str) -> go.Figure:
    """Return how far each pair is turned at each position.

    Args:
        angles: [T, pairs], in radians.
        pieces: bytes of the T tokens.
        token: the chosen position, whose first pair is framed.
        key: the chart's key.
    """
    fastest, slowest = float(angles[token, 0]), float(angles[token, -1])
    return rope_table(
        angles,
        token_labels(pieces),
        title=f"At position {token} the fastest pair is turned by {np.degrees(fastest):,.0f}°, the "
        f"slowest by {np.degrees(slowest):.3g}°",
        key=key,
        selected=(token, 0),
    )
