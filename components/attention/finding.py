"""Find the head in which one token reads another: all heads ranked by that share, press to look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.attention.controls import go_to_head
from components.kit.arrays import Array
from components.kit.figure import share_format
from components.kit.heatmap import heatmap, selected_cell
from components.kit.layout import side_by_side
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import quoted

if TYPE_CHECKING:
    from engine.attention.patterns import Readers

SHOWN = 6
"""Heads that have a button of their own."""


def show_readers(found: Readers, pieces: Sequence[bytes], *, selected: tuple[int, int]) -> None:
    """Draw the share of every head, and a button for each of the strongest.

    Args:
        found: the ranking.
        pieces: the tokens' bytes.
        selected: the layer and head that are shown now.
    """

    def choose(event: Any) -> None:
        cell = selected_cell(event, found.shares.T)
        if cell is not None:
            go_to_head(cell[1], cell[0])

    picture, ranking = side_by_side(2, 1)
    with picture:
        chart(
            readers_figure(found, pieces, selected=selected, key="readers"),
            key="readers",
            alt="How much of its attention the token gives to the other one in every head",
            on_select=choose,
        )
    with ranking:
        st.markdown("**The heads that do it most.** Press one to look:")
        with st.container(horizontal=True, gap="xsmall"):
            for rank, place in enumerate(found.order[:SHOWN], 1):
                layer, head = divmod(int(place), found.shares.shape[1])
                share = percent(float(found.shares[layer, head]))
                st.button(
                    f"{rank}. layer {layer}, head {head} · {share}",
                    key=f"reader_{rank}",
                    on_click=go_to_head,
                    args=(layer, head),
                    disabled=(layer, head) == selected,
                )


def readers_title(found: Readers, pieces: Sequence[bytes]) -> str:
    """Say in how many heads the one token reads the other, and where most."""
    layer, head = divmod(int(found.order[0]), found.shares.shape[1])
    share = float(found.shares[layer, head])
    reader, read = (quoted(pieces[place]) for place in (found.query, found.key))
    many = int((found.shares >= 0.3).sum())
    return (
        f"{reader} reads {read} most in head {head} of layer {layer}: {percent(share)}; "
        f"30 % or more in {many} of {found.shares.size} heads"
    )


def readers_figure(
    found: Readers, pieces: Sequence[bytes], *, selected: tuple[int, int], key: str
) -> go.Figure:
    """Draw the share of every head: heads by layers."""
    shares: Array = found.shares.T
    heads, layers = shares.shape
    figure = heatmap(
        shares,
        [str(head) for head in range(heads)],
        [str(layer) for layer in range(layers)],
        title=readers_title(found, pieces),
        key=key,
        low=0.0,
        high=1.0,
        row_name="head",
        col_name="layer",
        value_name="share of attention:",
        number_format=".2f",
        selected=(selected[1], selected[0]),
        height=int(np.clip(110 + 24 * heads, 240, 520)),
    )
    figure.update_yaxes(title="head")
    figure.update_xaxes(title="layer", tickangle=0)
    figure.data[0].colorbar.update(tickformat=share_format())
    return figure
