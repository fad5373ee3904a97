"""Feed-forward and residual stream: what a block adds, and when the answer appears."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import feed_forward_depth, feed_forward_view, state
from components.chart import chart
from engine import feed_forward
from pages.shared import derived, frame

live = frame.live_prompt()
trace = live.trace()
pieces = [token.data for token in live.tokens]
shape = live.model.architecture
feed_forward_view.default_selection(shape.layers, len(live.ids))
frame.selection(live, layer=True, token=True)
layer, token = st.session_state[state.LAYER], st.session_state[state.TOKEN]
norms = derived.residual_norms(live.model.source, live.ids)


def visual() -> None:
    """Draw the view that is open."""
    {
        feed_forward_view.NEURONS: neurons,
        feed_forward_view.STREAM: stream,
    }[feed_forward_view.views()]()


def neurons() -> None:
    """Draw the chosen token's strongest neurons in this layer."""
    run = feed_forward.token_neurons(trace, layer, token)
    strongest = feed_forward.strongest(run, feed_forward_view.SHOWN_NEURONS)
    left, right = st.columns([1.5, 1], gap="medium")
    with left:
        neuron = feed_forward_view.show_neurons(run, strongest, pieces[token], gated=shape.gated)
    with right:
        pushed = feed_forward.neuron_tokens(live.model, layer, neuron, n=6)
        feed_forward_view.show_neuron(
            run, neuron, pushed, live.model.tokenizer.bytes_of, activation=shape.activation
        )
        feed_forward_view.show_firing(trace.neurons(layer)[:, neuron], pieces, neuron, layer)


def stream() -> None:
    """Draw how long the vectors are, layer by layer."""

    def choose(event: Any) -> None:
        feed_forward_view.choose_layer(event, shape.layers)

    left, right = st.columns([2, 1], gap="medium")
    with left:
        chart(
            feed_forward_view.norm_figure(norms, token, pieces, layer, key="norms"),
            key="norms",
            alt="Length of the residual stream by layer, for the chosen token and the others",
            on_select=choose,
        )
    with right:
        feed_forward_view.norm_words(norms, token, pieces, layer)
    chart(
        feed_forward_view.added_figure(norms, token, layer, key="added"),
        key="added",
        alt="Length of what attention and feed-forward of each layer add for the chosen token",
        on_select=choose,
    )


def in_depth() -> None:
    """Show the formulas with this prompt's numbers."""
    run = feed_forward.token_neurons(trace, layer, token)
    feed_forward_depth.show(shape, run, norms, place=(layer, token))


def tasks() -> list[frame.Task]:
    """Return what to try."""
    run = feed_forward.token_neurons(trace, layer, token)
    return [frame.Task(*task) for task in feed_forward_depth.tasks(run, norms, layer, token)]


frame.views(visual, in_depth, tasks)
