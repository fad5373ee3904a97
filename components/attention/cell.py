"""One cell of a head's pattern, spelled out as a sum: q·k, the scale, the softmax, times v."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit.arrays import Array
from components.kit.layout import FULL, THIRD, side_by_side
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.signed_bars import signed_bars
from components.kit.text import markdown, quoted
from components.kit.vector_strip import robust_limit, strip

if TYPE_CHECKING:
    from engine.attention.patterns import ScoreTerms

SHOWN_TERMS = 12


def sum_in_words(terms: ScoreTerms, most: int = 4) -> str:
    """Write the cell as a sum with its largest terms, as Markdown.

    Args:
        terms: of the cell.
        most: how many products are written out.
    """
    written = " + ".join(
        f"({terms.q[i]:.2f})·({terms.k[i]:.2f})" for i in (int(j) for j in terms.order[:most])
    )
    more = f" + … ({len(terms.q)} products)" if len(terms.q) > most else ""
    steps = [f"q·k = {written}{more} = **{terms.dot:.2f}**"]
    steps.append(f"× {terms.scale:.4g} (that is ÷ √{1 / terms.scale**2:.4g}) = ")
    scaled = terms.dot * terms.scale
    steps[-1] += f"**{scaled:.2f}**"
    if terms.softcap is not None:
        steps.append(
            f"bounded by {terms.softcap:g}·tanh(score/{terms.softcap:g}): **{terms.score:.2f}**"
        )
    if terms.masked:
        steps.append("the causal mask hides it: −∞, so the softmax gives **0**")
    else:
        steps.append(f"after the mask and softmax: **{terms.probability:.4f}**")
    return ", ".join(steps)


def products_figure(terms: ScoreTerms, *, key: str) -> go.Figure:
    """Draw the largest products of `q·k`, and all the others as one bar."""
    shown = [int(i) for i in terms.order[:SHOWN_TERMS]]
    values = [float(terms.products[i]) for i in shown]
    rest = terms.dot - sum(values)
    names = [f"dimension {i}" for i in shown]
    texts = [f"{terms.q[i]:.2f} · {terms.k[i]:.2f} = {terms.products[i]:.2f}" for i in shown]
    if len(terms.q) > len(shown):
        names.append(f"{len(terms.q) - len(shown)} others")
        values.append(rest)
        texts.append(f"{rest:.2f}")
    return signed_bars(
        names,
        values,
        title=f"q·k = {terms.dot:.2f}: the largest of its {len(terms.q)} products",
        key=key,
        texts=texts,
        room=1.1,
    )


def show_cell(
    terms: ScoreTerms,
    value: Array,
    pieces: Sequence[bytes],
    *,
    query: int,
    read: int,
    layer: int,
    head: int,
) -> None:
    """Write one cell as a sum and draw what goes into it.

    Args:
        terms: of the cell.
        value: the read token's value vector, `[K]`.
        pieces: the tokens' bytes.
        query: the position that reads.
        read: the position that is read.
        layer: the layer.
        head: the query head.
    """
    reader, source = (markdown(quoted(pieces[i], limit=20)) for i in (query, read))
    st.markdown(
        f"##### {reader} (token {query + 1}) reads {source} (token {read + 1}) with "
        f"{percent(terms.probability)} of its attention: head {head} of layer {layer}"
    )
    st.markdown(sum_in_words(terms) + ".")
    chart(
        products_figure(terms, key="products"),
        key="products",
        alt=f"The largest products of the sum q·k = {terms.dot:.2f}",
        room=FULL,
    )
    _vectors(terms, value, query=query, read=read)
    handed = terms.probability * float(np.linalg.norm(value))
    st.caption(
        f"Query head {head} reads key and value head {terms.kv_head}. Query and key are shown "
        f"after position encoding. V × {terms.probability:.4f} is a vector of length {handed:.2f}."
    )


def _vectors(terms: ScoreTerms, value: Array, *, query: int, read: int) -> None:
    """Draw the query, the key and the value of the cell."""
    limit = max(robust_limit(terms.q), robust_limit(terms.k))
    for place, (letter, vector, title) in zip(
        side_by_side(1, 1, 1),
        (
            ("q", terms.q, f"Q · what token {query + 1} asks for"),
            ("k", terms.k, f"K · what token {read + 1} offers"),
            ("v", value, f"V · what token {read + 1} hands over"),
        ),
        strict=True,
    ):
        figure = strip(
            vector,
            title=title,
            key=f"cell_{letter}",
            limit=None if letter == "v" else limit,
            columns=32,
            height=118,
        )
        with place:
            alt = f"{title}, {len(vector)} numbers"
            chart(figure, key=f"cell_{letter}", alt=alt, room=THIRD)
