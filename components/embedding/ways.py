"""Embedding page: three ways to say where a token stands, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.embedding.rope import turns
from components.kit.arrays import Array
from components.kit.figure import token_labels
from components.kit.heatmap import heatmap
from components.kit.layout import side_by_side
from components.kit.model_words import pair_words
from components.kit.show import chart
from components.kit.text import markdown, visible
from components.kit.vector_strip import robust_limit, strip

if TYPE_CHECKING:
    from engine.embedding.rope import RotatedPairs

POSITIONS, ENTRIES = 64, 48
"""How many positions, and how many entries of each, are drawn."""


def table_figure(
    values: Array, *, title: str, key: str, high: float | None = None, turned: bool = False
) -> go.Figure:
    """Return positions against entries.

    Args:
        values: [positions, entries].
        title: what is seen.
        key: the chart's key.
        high: the strong end of the scale; by default from the values.
        turned: whether the values are degrees from 0 to 360.
    """
    rows, columns = values.shape
    limit = robust_limit(values) if high is None else high
    figure = heatmap(
        values,
        [str(row) for row in range(rows)],
        [str(column) for column in range(columns)],
        title=title,
        key=key,
        low=0.0 if turned else -limit,
        high=limit,
        row_name="position",
        col_name="pair" if turned else "entry",
        value_name="degrees" if turned else "value",
        number_format=".0f" if turned else ".3f",
        height=420,
    )
    for axis, count, name in (
        (figure.update_xaxes, columns, "pair" if turned else "entry of the vector"),
        (figure.update_yaxes, rows, "position"),
    ):
        marks = list(range(0, count, 8))
        axis(tickvals=marks, ticktext=[str(mark) for mark in marks], tickangle=0, title=name)
    return figure


def spread(values: Array, columns: int = ENTRIES) -> Array:
    """Return at most `columns` entries of each row, evenly spread from the first to the last."""
    width = values.shape[1]
    chosen = np.unique(np.linspace(0, width - 1, min(columns, width)).round().astype(int))
    return values[:, chosen]


def show(
    sinusoidal: Array,
    learned: Array | None,
    angles: Array | None,
    context: int,
    rotated: RotatedPairs | None,
) -> None:
    """Draw the three ways.

    Args:
        sinusoidal: [positions, D].
        learned: the running model's own position vectors, [positions, D], if it has any.
        angles: the running model's RoPE angles, [positions, pairs], if it has them.
        context: the longest text that the model was trained for.
        rotated: which numbers its RoPE turns together, if it has one.
    """
    first, second = side_by_side(1, 1)
    with first:
        st.markdown("##### Sinusoidal")
        _draw(sinusoidal, "waves", "Waves, from a formula")
        st.markdown(
            "- **Added to the embedding**, once, before the first layer.\n"
            "- Entry 2i is sin(p / 10000^(2i/D)), entry 2i+1 the cosine.\n"
            "- For longer texts the formula still gives numbers, but the model never practised "
            "with them."
        )
    with second:
        if learned is None:
            _show_rope(angles, context, rotated)
        else:
            _show_learned_rows(learned)
    # What the running model has no numbers for is told in words.
    if learned is None:
        _show_learned_rows(None)
    else:
        _show_rope(angles, context, rotated)


def _show_learned_rows(learned: Array | None) -> None:
    st.markdown("##### Learned")
    if learned is not None:
        _draw(learned, "learned", "A learned row for each position")
    st.markdown(
        "- **Added to the embedding**, once: a second table with one row per position, as in the "
        "GPT-2 family" + ("" if learned is not None else "; the running model has none") + ".\n"
        "- Neighbouring positions get like rows only because training made them so.\n"
        "- Past the trained length **there is no row**: the model can't go on."
    )


def _show_rope(angles: Array | None, context: int, rotated: RotatedPairs | None) -> None:
    st.markdown("##### RoPE")
    words = "" if rotated is None else pair_words(rotated.pairing, rotated.count)
    pair = f" (numbers {words})" if words else ""
    if angles is not None:
        figure = table_figure(
            turns(angles),
            title="How far q and k are turned, in degrees",
            key="ways_rope",
            high=360.0,
            turned=True,
        )
        chart(figure, key="ways_rope", alt=f"RoPE angles by position and pair{pair}")
    st.markdown(
        f"- **Turns queries and keys**, pair by pair{pair}, in every layer; values and the "
        "embedding stay as they are.\n"
        "- A score depends on the distance of two tokens, not on where they stand.\n"
        f"- Past the trained length ({context:,} tokens for the running model) slow pairs "
        "reach angles that they never had; slower turns (scaling) are the usual repair."
        + ("" if angles is not None else "\n- The running model has no RoPE.")
    )


def _draw(values: Array, name: str, title: str) -> None:
    key = f"ways_{name}"
    chart(table_figure(spread(values), title=title, key=key), key=key, alt=title)
    if values.shape[1] > ENTRIES:
        st.caption(f"{ENTRIES} of {values.shape[1]} entries, evenly spread.")


def show_learned(
    row: Array, embedded: Array, cosines: Array, pieces: Sequence[bytes], position: int
) -> None:
    """Draw what a model with learned positions does in place of RoPE.

    Args:
        row: the vector of the chosen position, [D].
        embedded: the chosen token's own row of the table, [D].
        cosines: between the vectors of the prompt's positions, [T, T].
        pieces: bytes of the T tokens.
        position: the chosen position.
    """
    name, own, added = (
        markdown(visible(pieces[position])),
        float(np.linalg.norm(embedded)),
        float(np.linalg.norm(row)),
    )
    st.markdown(
        "**This model has no RoPE.** It keeps a second table with one row per position and adds "
        f"that row to the embedding before the first layer: {name} at position {position} starts "
        f"as its own row (norm {own:.2f}) plus row {position} of the positions (norm {added:.2f})."
    )
    chart(
        strip(row, title=f"Row {position} of the position table", key="position_row"),
        key="position_row",
        alt=f"The vector that is added at position {position}",
    )
    labels = token_labels(pieces)
    chart(
        heatmap(
            cosines,
            labels,
            labels,
            title=f"Cosine between the rows of positions 0 and {len(pieces) - 1}: "
            f"{cosines[0, -1]:.2f}",
            key="position_cosines",
            low=-1.0,
            high=1.0,
            row_name="position of",
            col_name="position of",
            value_name="cosine",
            number_format=".2f",
            selected=(position, position),
        ),
        key="position_cosines",
        alt="Cosines between the vectors of the prompt's positions",
    )
