"""The residual stream drawn: its length by layer, what is added to it, and how it turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.arrays import Array
from components.kit.heatmap import heatmap
from components.kit.lines import lines, selected_point
from components.kit.numbers import percent
from components.kit.text import markdown, quoted
from components.link import keys

if TYPE_CHECKING:
    from engine.feed_forward.neurons import ResidualNorms


def norm_figure(
    norms: ResidualNorms, token: int, pieces: Sequence[bytes], layer: int, *, key: str
) -> go.Figure:
    """Draw the length of the residual stream over the layers, on a log axis."""
    name = quoted(pieces[token])
    series: dict[str, Array] = {f"{name}, token {token + 1}": norms.stream[:, token]}
    if token != 0:
        series[f"{quoted(pieces[0])}, the first token"] = norms.stream[:, 0]
    others = [i for i in range(len(pieces)) if i not in {0, token}]
    if others:
        series["median of the others"] = np.median(norms.stream[:, others], axis=1)
    start, end = norms.stream[0, token], norms.stream[-1, token]
    return lines(
        series,
        title=f"The vector of {name} goes from length {start:,.1f} to {end:,.0f} over "
        f"{len(norms.stream) - 1} layers",
        key=key,
        x_title="layers passed",
        y_title="length (L2 norm)",
        log=True,
        selected=layer,
        height=400,
    )


def choose_layer(event: Any, layers: int) -> None:
    """Take the layer of a clicked point; for callbacks."""
    point = selected_point(event, layers + 1)
    if point is not None:
        go_to_layer(point, layers)


def go_to_layer(passed: int, layers: int) -> None:
    """Choose the layer that reads what so many layers have written; for callbacks."""
    st.session_state[keys.LAYER] = min(passed, layers - 1)


def norm_words(
    norms: ResidualNorms,
    mlp_out: Array,
    token: int,
    pieces: Sequence[bytes],
    layer: int,
    *,
    default: bool,
) -> None:
    """Explain the chosen layer's numbers, and the jump where there is one.

    Args:
        norms: lengths by layer and token.
        mlp_out: what the feed-forward networks add, `[L, T, D]`.
        token: the chosen token.
        pieces: the tokens' bytes.
        layer: the chosen layer.
        default: whether it is the default model that runs.
    """
    before, after = norms.stream[layer, token], norms.stream[layer + 1, token]
    st.markdown(
        f"**Layer {layer}, token {token + 1}:** the vector comes in with length {before:,.1f}. "
        f"Attention adds a vector of length {norms.attn_out[layer, token]:,.1f}, the feed-forward "
        f"network one of {norms.mlp_out[layer, token]:,.1f}; it goes out with {after:,.1f}."
    )
    jump = jump_of(norms)
    if jump is None:
        return
    place, where = jump
    added = mlp_out[place, where].astype(np.float64) ** 2
    dimension, share = int(added.argmax()), float(added.max() / added.sum())
    st.markdown(
        f"**The jump.** In layer {place} the feed-forward network adds a vector of length "
        f"{norms.mlp_out[place, where]:,.0f} to "
        f"{markdown(quoted(pieces[where]))} (token {where + 1}): its length goes from "
        f"{norms.stream[place, where]:,.0f} to {norms.stream[place + 1, where]:,.0f}. It lies "
        f"nearly all in dimension {dimension} ({percent(share)} of the squared length)"
        + (", and the first token of any prompt gets it. " if default else ". ")
        + "The norm before each later part shrinks the whole vector to a common length, so at this "
        "token little else is left to be read: a resting place for attention (the sink)."
        + end_words(norms, where)
    )


def end_words(norms: ResidualNorms, token: int) -> str:
    """Say what the last two layers make of a long vector; "" where they don't shorten it."""
    lengths = norms.stream[:, token]
    if len(lengths) < 4 or lengths[-1] > 0.5 * lengths[-3]:
        return ""
    others = np.delete(norms.stream[-1], token)
    longer = (
        f", still {lengths[-1] / others.max():.0f} times as long as any other"
        if len(others) and lengths[-1] > 1.5 * others.max()
        else ""
    )
    return (
        " The last two layers take most of it away by adding the opposite: from "
        f"{lengths[-3]:,.0f} to {lengths[-1]:,.0f}{longer}."
    )


def jump_of(norms: ResidualNorms) -> tuple[int, int] | None:
    """Return (layer, token) of a layer that makes a vector ten times as long, or None.

    The first layers do that to every vector, so only layers from the third on count.
    """
    growth = norms.stream[1:] / np.maximum(norms.stream[:-1], 1e-9)
    growth[:2] = 0.0
    layer, token = (int(i) for i in np.unravel_index(growth.argmax(), growth.shape))
    return (layer, token) if growth[layer, token] >= 10 else None


def added_figure(norms: ResidualNorms, token: int, layer: int, *, key: str) -> go.Figure:
    """Draw the lengths of what attention and the feed-forward network of each layer add."""
    attention, mlp = norms.attn_out[:, token], norms.mlp_out[:, token]
    more = int((mlp > attention).sum())
    return lines(
        {"attention adds": attention, "feed-forward adds": mlp},
        colours=(theme.ATTENTION, theme.FEED_FORWARD),
        title=f"The feed-forward network adds the longer vector in {more} of {len(mlp)} layers",
        key=key,
        y_title="length (L2 norm)",
        log=True,
        selected=layer,
        height=300,
    )


def cosine_figure(cosines: Array, layer: int, token: int, *, key: str) -> go.Figure:
    """Draw how alike one token's vectors are between all layers.

    Args:
        cosines: `[L+1, L+1]`.
        layer: the chosen layer.
        token: the token's position.
        key: the chart's key.
    """
    labels = [str(i) if i % 5 == 0 else "" for i in range(len(cosines))]
    steps = np.diag(cosines, 1)
    turn = int(steps.argmin())
    figure = heatmap(
        cosines,
        labels,
        labels,
        title=f"Token {token + 1} turns most in layer {turn}: cosine {steps[turn]:.2f} from in to "
        "out",
        key=key,
        low=-1.0,
        high=1.0,
        row_name="after layer",
        col_name="and after layer",
        value_name="cosine",
        number_format=".2f",
        selected=(layer, layer + 1),
        height=420,
    )
    figure.update_xaxes(tickangle=0, title="layers passed")
    figure.update_yaxes(title="layers passed")
    return figure
