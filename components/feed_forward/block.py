"""What opens under the picture of a block: a norm, attention, feed-forward, or a vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from components.kit.arrays import Array
from components.kit.heatmap import heatmap
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.signed_bars import signed_bars
from components.kit.vector_strip import strip
from components.link import keys, widgets

if TYPE_CHECKING:
    from engine.feed_forward.block import BlockRun
    from engine.feed_forward.neurons import TokenNeurons
    from engine.network.architecture import Architecture
    from engine.tracing.norms import NormSteps

COORDINATES = 8


def open_box(key: str) -> None:
    """Remember which box of the picture is open; for callbacks."""
    st.session_state[keys.BLOCK_BOX] = key


def opened(boxes: Sequence[str], default: str) -> str:
    """Return which of the boxes is open."""
    box = widgets.name(keys.BLOCK_BOX, "The open box", boxes, default)
    if keys.BLOCK_BOX in st.session_state:
        widgets.write(keys.BLOCK_BOX, box)
    return box


def norm_formula(steps: NormSteps) -> str:
    """Write the norm's divisor with its numbers, as Markdown."""
    width = len(steps.given)
    if steps.centred:
        return (
            f"LayerNorm takes the mean {steps.mean:.3f} off, divides by the standard deviation "
            f"**{steps.divisor:.3f}**, multiplies each number with its own weight and adds a bias."
        )
    square = float((steps.given.astype(np.float64) ** 2).sum())
    return (
        f"RMSNorm divides by the root mean square, √({square:,.1f} / {width}) = "
        f"**{steps.divisor:.3f}**, and multiplies each number with its own learned weight. "
        "The direction stays, but for the weights; the length does not."
    )


def show_norm(steps: NormSteps | None, name: str) -> None:
    """Draw a norm step by step on the coordinates with the largest values.

    Args:
        steps: of the norm; None where the model has none there.
        name: the norm's kind and place.
    """
    if steps is None:
        st.markdown("There is no norm of its own here.")
        return
    st.markdown(f"**{name}.** {norm_formula(steps)}")
    order = np.sort(np.argsort(-np.abs(steps.given), kind="stable")[:COORDINATES])
    rows = [("in", steps.given), ("÷", steps.divided), ("× weight", steps.weights)]
    if np.any(steps.bias):
        rows.append(("+ bias", steps.bias))
    rows.append(("out", steps.output))
    values = np.stack([row[order] for _, row in rows])
    # Each row has a scale of its own: the numbers are in the cells.
    scaled = values / np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-9)
    figure = heatmap(
        scaled,
        [name for name, _ in rows],
        [str(int(i)) for i in order],
        title=f"The {len(order)} largest of {len(steps.given)} numbers, step by step",
        key="norm_steps",
        low=-1.0,
        high=1.0,
        row_name="step",
        col_name="dimension",
        value_name="relative to the row:",
        texts=_numbers(values),
        height=260,
    )
    figure.data[0].update(showscale=False)
    figure.update_xaxes(title="dimension", tickangle=0)
    chart(figure, key="norm_steps", alt="A norm on the largest numbers of the vector, step by step")


def _numbers(values: Array) -> list[list[str]]:
    """Return the numbers as they are written into cells."""
    return [[_number(float(value)) for value in row] for row in values]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.2f}"


def show_attention(outputs: Array, layer: int, token: int) -> None:
    """Draw how much each head adds to this token.

    Args:
        outputs: `[H, D]`.
        layer: the layer.
        token: the token's position.
    """
    lengths = np.linalg.norm(outputs, axis=1)
    best = int(lengths.argmax())
    figure = signed_bars(
        [f"head {head}" for head in range(len(lengths))],
        lengths,
        title=f"Head {best} adds the longest vector to token {token + 1}: {lengths[best]:.1f}",
        key="head_lengths",
    )
    chart(figure, key="head_lengths", alt=f"Length of what each head of layer {layer} adds")
    together = float(np.linalg.norm(outputs.sum(axis=0)))
    st.caption(
        f"Together the heads add a vector of length {together:.2f}; vectors that point in "
        "different directions cancel in part. What each head reads stands on the attention page."
    )


def show_mlp(run: TokenNeurons, order: Array, shape: Architecture) -> None:
    """Draw the steps of the feed-forward network for the neurons that add most.

    Args:
        run: the layer at work on the token.
        order: the strongest neurons.
        shape: the model's parts.
    """
    chosen = [int(i) for i in order[:COORDINATES]]
    activation = shape.activation
    rows = [("gate" if run.up is not None else "in", run.gate), (activation, run.activated)]
    if run.up is not None:
        rows += [("up", run.up), ("product", run.neurons)]
    values = np.stack([row[chosen] for _, row in rows])
    limit = max(1e-6, float(np.abs(values).max()))
    figure = heatmap(
        values,
        [name for name, _ in rows],
        [str(i) for i in chosen],
        title=f"The {len(chosen)} neurons that add most, of {len(run.neurons):,}: step by step",
        key="mlp_steps",
        low=-limit,
        high=limit,
        row_name="step",
        col_name="neuron",
        value_name="value",
        number_format=".2f",
        texts=_numbers(values),
        height=250,
    )
    figure.update_xaxes(title="neuron", tickangle=0)
    chart(figure, key="mlp_steps", alt="Steps of the feed-forward network for the top neurons")
    words = (
        f"{activation}(gate) decides how far a neuron is open, and multiplies what **up** has read."
        if run.up is not None
        else f"{activation} decides how far a neuron is open."
    )
    st.markdown(
        f"{words} Then **down** adds up one row per neuron, each as many times as the neuron says: "
        f"a vector of length **{np.linalg.norm(run.added):.2f}** for this token."
    )


def order_of_norms(run: BlockRun) -> str:
    """Say where the norms stand, against the well-known drawing; "" where there are none."""
    if run.attention_norm is None:
        return ""
    return (
        "The drawing of 2017 norms after each addition (“Add & Norm”, post-norm). Here, as in "
        "nearly all models since GPT-2, each part reads a normed copy (pre-norm), and what it adds "
        "goes to the stream itself."
    )


def show_vector(vector: Array, title: str, key: str) -> None:
    """Draw one vector of the residual stream as a strip."""
    length = float(np.linalg.norm(vector))
    top = int(np.abs(vector).argmax())
    share = float(vector[top]) ** 2 / max(length**2, 1e-12)
    chart(
        strip(vector, title=f"{title}: length {length:,.1f}", key=key, selected=top),
        key=key,
        alt=f"{title}, {len(vector)} numbers",
    )
    st.caption(
        f"The largest number is dimension {top}: {vector[top]:,.2f}, {percent(share)} of the "
        "squared length."
    )
