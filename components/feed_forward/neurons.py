"""The feed-forward page's controls, figures and words: neurons, and the residual stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit.arrays import Array
from components.kit.bars import bars
from components.kit.clicks import chosen_index
from components.kit.layout import THIRD
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.signed_bars import signed_bars
from components.kit.text import markdown, visible
from components.link import keys, widgets

if TYPE_CHECKING:
    from engine.feed_forward.neurons import NeuronTokens, ResidualNorms, TokenNeurons

BLOCK, NEURONS, STREAM = "One block", "Neurons", "Residual stream"
ANSWER, AWAY = "When the answer appears", "Take a part away"
VIEWS = (BLOCK, NEURONS, STREAM, ANSWER, AWAY)
SHOWN_NEURONS = 16


def views() -> str:
    """Draw the choice of view and return the open one."""
    return widgets.choice(
        "What to look at", VIEWS, key=keys.FEED_FORWARD_PART, label_visibility="collapsed"
    )


def block_title(norms: ResidualNorms, token: int, pieces: Sequence[bytes], layer: int) -> str:
    """Say what the chosen block does to the chosen token, as Markdown."""
    before, after = norms.stream[layer, token], norms.stream[layer + 1, token]
    attention, mlp = norms.attn_out[layer, token], norms.mlp_out[layer, token]
    more = "feed-forward network" if mlp > attention else "attention"
    return (
        f"Block {layer} on {markdown(visible(pieces[token], limit=14))}: from length "
        f"{before:,.1f} to {after:,.1f}, most of it by the {more}"
    )


def show_neurons(run: TokenNeurons, strongest: Sequence[int], piece: bytes, *, gated: bool) -> int:
    """Draw the strongest neurons and return the chosen one.

    Args:
        run: the layer at work on the token.
        strongest: the neurons with the strongest contributions, first first.
        piece: the token's bytes.
        gated: whether the network multiplies two readings (SwiGLU).
    """
    order = [int(neuron) for neuron in strongest]
    chosen = widgets.number(keys.NEURON, "Neuron", len(run.neurons) - 1)
    neuron = order[0] if chosen is None else chosen
    if chosen is not None:
        widgets.write(keys.NEURON, neuron)

    def choose(event: Any) -> None:
        number = chosen_index(event, len(order), curve=0)
        if number is not None:
            st.session_state[keys.NEURON] = order[number]

    chart(
        neuron_figure(run, order, piece, selected=neuron, key="neurons"),
        key="neurons",
        alt="The neurons that add most to the residual stream for this token",
        on_select=choose,
    )
    active = int((np.abs(run.neurons) > 0.1 * np.abs(run.neurons).max()).sum())
    st.caption(
        f"{len(run.neurons):,} neurons; {active:,} reach a tenth of the largest. A bar's length is "
        "how long the vector is that the neuron adds: its activation times the length of its row."
        + (" A neuron is the activated gate times up." if gated else "")
    )
    return neuron


def neuron_figure(
    run: TokenNeurons, order: Sequence[int], piece: bytes, *, selected: int, key: str
) -> go.Figure:
    """Draw what the strongest neurons add: length, with the sign of the activation."""
    values = np.sign(run.neurons[list(order)]) * run.strength[list(order)]
    share = float((run.strength[list(order)] ** 2).sum() / max((run.strength**2).sum(), 1e-12))
    return signed_bars(
        [f"neuron {neuron}" for neuron in order],
        values,
        title=f"Layer {run.layer} on {visible(piece, limit=14)}: {len(order)} of "
        f"{len(run.neurons):,} neurons hold {percent(share)} of the squared length",
        key=key,
        selected=list(order).index(selected) if selected in order else None,
        hover=run.neurons[list(order)],
        hover_name="activation",
    )


def show_neuron(
    run: TokenNeurons,
    neuron: int,
    pushed: NeuronTokens,
    bytes_of: Callable[[int], bytes],
    *,
    activation: str,
) -> None:
    """Spell one neuron out, and draw the tokens that its row pushes up and down."""
    gate, active = float(run.gate[neuron]), float(run.activated[neuron])
    if run.up is not None:
        formula = (
            f"{activation}({gate:.2f}) = {active:.2f}, times up {run.up[neuron]:.2f} = "
            f"**{run.neurons[neuron]:.2f}**"
        )
    else:
        formula = f"{activation}({gate:.2f}) = **{run.neurons[neuron]:.2f}**"
    st.markdown(f"**Neuron {neuron}:** {formula}")
    positive = run.neurons[neuron] >= 0
    for ids, scores, name in (
        (pushed.up_ids, pushed.up_scores, "up" if positive else "down"),
        (pushed.down_ids, pushed.down_scores, "down" if positive else "up"),
    ):
        known = [int(i) for i in ids]
        sizes = np.abs(scores)
        chart(
            bars(
                known,
                [bytes_of(i) for i in known],
                [float(size) for size in sizes],
                title=f"Here it pushes {name}",
                key=f"pushed_{name}",
                percent=False,
                height=200,
                value_name="row times the token's row of the LM head:",
            ),
            key=f"pushed_{name}",
            alt=f"Tokens that neuron {neuron} pushes {name}",
            room=THIRD,
        )


def show_firing(values: Array, pieces: Sequence[bytes], neuron: int, layer: int) -> None:
    """Say at which tokens of the prompt a neuron is most active.

    Args:
        values: `[T]`, the neuron at every position.
        pieces: the tokens' bytes.
        neuron: the neuron.
        layer: its layer.
    """
    order = np.argsort(-np.abs(values), kind="stable")[:4]
    listed = ", ".join(
        f"{markdown(visible(pieces[i], limit=14))} ({i}): {values[i]:.2f}" for i in order
    )
    st.markdown(f"**Where neuron {neuron} of layer {layer} fires in this prompt:** {listed}")
