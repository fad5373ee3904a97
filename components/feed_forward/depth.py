"""Feed-forward and residual stream in depth: formulas with this prompt's numbers, and tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from components.kit.layout import formulas
from components.kit.numbers import percent
from components.kit.tasks import Task
from components.link import keys

if TYPE_CHECKING:
    from engine.feed_forward.neurons import ResidualNorms, TokenNeurons
    from engine.network.architecture import Architecture

AWAY_TASK = (
    "Take **one feed-forward network** away (“Take a part away”) so that the answer is at least "
    "10 bits off. Does an early, a middle or a late layer matter most?"
)


def show(
    shape: Architecture, run: TokenNeurons, norms: ResidualNorms, *, place: tuple[int, int]
) -> None:
    """Write the formulas of a block, one neuron as its sum, the shapes and the limits.

    Args:
        shape: the model's sizes and the parts that it is made of.
        run: the chosen layer at work on the chosen token.
        norms: lengths by layer and token.
        place: layer and token.
    """
    layer, token = place
    _block_formula(shape)
    neuron = int(run.strength.argmax())
    st.markdown(
        f"**With your numbers** (layer {layer}, token {token + 1}): the strongest of "
        f"{shape.ff_width:,} neurons is {neuron}: {_neuron_sum(shape, run, neuron)}. It adds "
        f"its own row, {abs(run.neurons[neuron]):.2f} times as long: a vector of length "
        f"{run.strength[neuron]:.2f}. All neurons together add one of length "
        f"{np.linalg.norm(run.added):.2f} to a vector of length {norms.stream[layer, token]:,.1f}. "
        "On “Neurons” a bar is that length, the activation times the length of the neuron's row, "
        "and half of the work means half of the sum of its squares."
    )
    matrices = 3 if shape.gated else 2
    st.markdown(
        f"""
**Shapes.** The network works on each token by itself: {shape.width} numbers in,
{shape.ff_width:,} neurons, {shape.width} numbers out. {matrices} matrices of {shape.width} ×
{shape.ff_width:,} are {matrices * shape.width * shape.ff_width:,} weights a layer,
{percent(shape.layers * matrices * shape.width * shape.ff_width / shape.parameters)} of the model's
{shape.parameters / 1e6:,.0f} million.

**The residual stream** is the one vector of a token that every part reads and adds to. Nothing is
erased except by adding its opposite: the vector after the last layer is the embedding plus
{2 * shape.layers} additions. Parts that read it see it through a norm, which brings every vector to
a common length; so what counts is the direction, and an addition matters in proportion to what is
there already.

**Large models** have D = 4,096 to 16,384, F about three to five times that, and 30 to 126 layers.
Many have a mixture of experts: 8 to several hundred feed-forward networks in a layer, of which each
token goes through a few.

**What this does not show.** A neuron's row read through the LM head says which way it pushes if
nothing came after it; later layers and the norm do come. The logit lens asks early layers a
question that they were not trained to answer. And a neuron that fires on a word need not mean that
word.
"""
    )


def _block_formula(shape: Architecture) -> None:
    norm = r"\mathrm{" + shape.norm + "}"
    act = r"\mathrm{" + shape.activation.replace("_", r"\_") + "}"
    inner = (
        rf"{act}(x W_\mathrm{{gate}}) \odot (x W_\mathrm{{up}})"
        if shape.gated
        else (rf"{act}(x W_\mathrm{{up}} + b)")
    )
    formulas(
        rf"\mathrm{{neurons}} = {inner}",
        r"\mathrm{mlp\_out} = \mathrm{neurons}\, W_\mathrm{down}",
    )
    pre, mid, post = (rf"\mathrm{{resid\_{point}}}" for point in ("pre", "mid", "post"))
    attn, mlp = r"\mathrm{attn}", r"\mathrm{mlp}"
    if shape.parallel:
        st.latex(rf"{post} = {pre} + {attn}({norm}({pre})) + {mlp}({norm}({pre}))")
        return
    formulas(f"{mid} = {pre} + {attn}({norm}({pre}))", f"{post} = {mid} + {mlp}({norm}({mid}))")


def _neuron_sum(shape: Architecture, run: TokenNeurons, neuron: int) -> str:
    gate, active = run.gate[neuron], run.activated[neuron]
    if run.up is None:
        return f"{shape.activation}({gate:.2f}) = {active:.2f}"
    return (
        f"{shape.activation}({gate:.2f}) = {active:.2f}, times {run.up[neuron]:.2f} = "
        f"{run.neurons[neuron]:.2f}"
    )


def tasks(run: TokenNeurons, norms: ResidualNorms, layer: int, token: int) -> list[Task]:
    """Return text, whether it is done, and where it stands."""
    stream = norms.stream[layer + 1, token]
    before = norms.stream[layer, token]
    strength = run.strength / max(float(run.strength.sum()), 1e-12)
    top = float(strength.max())
    attention, mlp = norms.attn_out[layer, token], norms.mlp_out[layer, token]
    return [
        Task(
            "Find the layer and token where one layer makes the vector **at least five times as "
            "long** (not in the first two layers).",
            layer > 1 and stream >= 5 * before,
            f"Layer {layer}, token {token + 1}: from {before:,.1f} to {stream:,.1f}.",
            "The first token is not like the others. Follow its line to where it jumps.",
            {keys.FEED_FORWARD_PART: "Residual stream"},
        ),
        Task(
            "Find a layer in which **attention adds more** than the feed-forward network at the "
            "chosen token.",
            attention > mlp,
            f"Layer {layer}: attention {attention:,.2f}, feed-forward {mlp:,.2f}.",
            "The lower picture has a bar of each kind for every layer. Look at the last token.",
            {keys.FEED_FORWARD_PART: "Residual stream"},
        ),
        Task(
            "Find a layer and token where **one neuron alone** makes up a twentieth of all that "
            "the neurons add, by length.",
            top >= 0.05,
            f"Layer {layer}, token {token + 1}: the strongest neuron has {percent(top)}.",
            "Where the vector jumps, few neurons do the work. So look at the first token again.",
            {keys.FEED_FORWARD_PART: "Neurons"},
        ),
    ]
