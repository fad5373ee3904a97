"""The feed-forward page's controls, figures and words: neurons, and the residual stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.arrays import Array
from components.kit.bars import bars
from components.kit.clicks import chosen_index
from components.kit.layout import THIRD
from components.kit.show import chart
from components.kit.signed_bars import signed_bars
from components.kit.text import markdown, quoted, visible
from components.link import keys, widgets

if TYPE_CHECKING:
    from engine.feed_forward.neurons import NeuronTokens, ResidualNorms, TokenNeurons

ANSWER, BLOCK, NEURONS = "When the answer appears", "One block", "Neurons"
STREAM, AWAY = "Residual stream", "Take a part away"
VIEWS = (ANSWER, BLOCK, NEURONS, STREAM, AWAY)
SHOWN_NEURONS = 16
BytesOf = Callable[[int], bytes]


def views() -> str:
    """Draw the choice of view and return the open one."""
    return widgets.choice(
        "What to look at", VIEWS, key=keys.FEED_FORWARD_PART, label_visibility="collapsed"
    )


def block_title(norms: ResidualNorms, token: int, pieces: Sequence[bytes], layer: int) -> str:
    """Say what the chosen block does to the chosen token, as Markdown."""
    before, after = norms.stream[layer, token], norms.stream[layer + 1, token]
    attention, mlp = norms.attn_out[layer, token], norms.mlp_out[layer, token]
    longer = "the feed-forward network's" if mlp > attention else "attention's"
    return (
        f"Layer {layer} takes {markdown(quoted(pieces[token]))} from length {before:,.1f} to "
        f"{after:,.1f}; the longer of its two additions is {longer}"
    )


def show_neurons(
    run: TokenNeurons, strongest: Sequence[int], half: int, piece: bytes, words: Sequence[str]
) -> int:
    """Draw the strongest neurons and return the chosen one.

    Args:
        run: the layer at work on the token.
        strongest: the neurons with the strongest contributions, first first.
        half: how many of the strongest do half of the work.
        piece: the token's bytes.
        words: what each of `strongest` pushes most, plain.
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
        neuron_figure(run, order, half, piece, words, selected=neuron, key="neurons"),
        key="neurons",
        alt="The neurons that add most to the residual stream for this token",
        on_select=choose,
    )
    st.caption(
        "A long bar: this neuron changes the token's numbers a lot. Beside it stand the words that "
        "it pushes up most here; press a bar to see more. In early and middle layers these are "
        "often no words that mean anything: what the neuron adds is read by later layers first."
    )
    return neuron


def neuron_figure(
    run: TokenNeurons,
    order: Sequence[int],
    half: int,
    piece: bytes,
    words: Sequence[str],
    *,
    selected: int,
    key: str,
) -> go.Figure:
    """Draw what the strongest neurons add: length, with the sign of the activation.

    Args:
        run: the layer at work on the token.
        order: the neurons to draw.
        half: how many of the strongest hold half of all squared lengths.
        piece: the token's bytes.
        words: what each neuron pushes most, plain.
        selected: the chosen neuron, framed.
        key: the chart's key.
    """
    values = np.sign(run.neurons[list(order)]) * run.strength[list(order)]
    return signed_bars(
        [f"{word}  {neuron}" for word, neuron in zip(words, order, strict=True)],
        values,
        title=f"Of {len(run.neurons):,} neurons of layer {run.layer}, {half} do half of the work "
        f"for {quoted(piece)}",
        key=key,
        selected=list(order).index(selected) if selected in order else None,
        hover=run.neurons[list(order)],
        hover_name="activation",
    )


def pushed_words(run: TokenNeurons, neuron: int, pushed: NeuronTokens, bytes_of: BytesOf) -> str:
    """Return the two words that a neuron pushes up most here, plain."""
    ids = pushed.up_ids if run.neurons[neuron] >= 0 else pushed.down_ids
    return " ".join(visible(bytes_of(int(i)), limit=9) for i in ids[:2])


def show_neuron(
    run: TokenNeurons,
    neuron: int,
    pushed: NeuronTokens,
    bytes_of: BytesOf,
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
        figure = bars(
            known,
            [bytes_of(i) for i in known],
            [float(size) for size in sizes],
            title=f"Here it pushes {name}",
            key=f"pushed_{name}",
            percent=False,
            height=200,
            value_name="row times the token's row of the LM head:",
        )
        colour = theme.POSITIVE if name == "up" else theme.NEGATIVE
        figure.data[0].marker.color = [colour] * len(known)
        chart(
            figure,
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
        f"{markdown(visible(pieces[i], limit=14))} (token {i + 1}): {values[i]:.2f}" for i in order
    )
    st.markdown(f"**Where neuron {neuron} of layer {layer} fires in this prompt:** {listed}")
