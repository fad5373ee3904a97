"""The feed-forward page's controls, figures and words: neurons, and the residual stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components import state, theme
from components.bars import bars
from components.chart import chart, chosen_index, frame, packed
from components.lines import lines, selected_point
from components.text import markdown, visible

if TYPE_CHECKING:
    from engine.feed_forward import NeuronTokens, ResidualNorms, TokenNeurons

Array = np.ndarray[Any, Any]

NEURONS, STREAM = "Neurons", "Residual stream"
VIEWS = (NEURONS, STREAM)
SHOWN_NEURONS = 16


def default_selection(layers: int, tokens: int) -> None:
    """On the first visit open a layer in the middle, at the last token."""
    for key, value in ((state.LAYER, layers // 2), (state.TOKEN, tokens - 1)):
        if key not in st.session_state and key not in st.query_params:
            st.session_state[key] = value


def views() -> str:
    """Draw the choice of view and return the open one."""
    return str(
        st.segmented_control(
            "What to look at",
            VIEWS,
            default=VIEWS[0],
            required=True,
            key=state.BLOCK_VIEW,
            bind="query-params",
            label_visibility="collapsed",
        )
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
    chosen = st.session_state.get(state.NEURON)
    neuron = chosen if isinstance(chosen, int) and chosen < len(run.neurons) else order[0]

    def choose(event: Any) -> None:
        number = chosen_index(event, len(order), curve=0)
        if number is not None:
            st.session_state[state.NEURON] = order[number]

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
    figure = frame(
        f"Layer {run.layer} on {visible(piece, limit=14)}: {len(order)} of {len(run.neurons):,} "
        f"neurons hold {share:.0%} of the squared length",
        height=74 + 25 * len(order),
        revision=key,
        bargap=0.25,
    )
    edges = [theme.PICKED if neuron == selected else "rgba(0,0,0,0)" for neuron in order]
    figure.add_trace(
        go.Bar(
            x=packed(values),
            y=list(range(len(order))),
            orientation="h",
            marker={
                "color": [theme.POSITIVE if v >= 0 else theme.NEGATIVE for v in values],
                "line": {"color": edges, "width": 3},
            },
            customdata=packed(run.neurons[list(order)]),
            text=[f"{value:.2f}" for value in values],
            textposition="outside",
            textfont={"size": 13, "color": theme.TEXT},
            cliponaxis=False,
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            hovertemplate="%{y}<br>activation %{customdata:.3f}<extra></extra>",
        )
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(order))),
        ticktext=[f"neuron {neuron}" for neuron in order],
        range=[len(order) - 0.5, -0.5],
        fixedrange=True,
    )
    span = float(np.abs(values).max(initial=1e-6))
    low = -1.2 * span if values.min(initial=0.0) < 0 else 0.0
    figure.update_xaxes(range=[low, 1.2 * span], fixedrange=True, zeroline=True)
    return figure


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


def norm_figure(
    norms: ResidualNorms, token: int, pieces: Sequence[bytes], layer: int, *, key: str
) -> go.Figure:
    """Draw the length of the residual stream over the layers, on a log axis."""
    name = visible(pieces[token], limit=14)
    series: dict[str, Array] = {f"token {token} {name}": norms.stream[:, token]}
    if token != 0:
        series[f"token 0 {visible(pieces[0], limit=14)}"] = norms.stream[:, 0]
    others = [i for i in range(len(pieces)) if i not in {0, token}]
    if others:
        series["median of the others"] = np.median(norms.stream[:, others], axis=1)
    start, end = norms.stream[0, token], norms.stream[-1, token]
    return lines(
        series,
        title=f"{name} grows from length {start:,.1f} to {end:,.0f} over {len(norms.stream) - 1} "
        "blocks",
        key=key,
        x_title="blocks passed",
        y_title="length (L2 norm)",
        log=True,
        selected=layer,
        height=400,
    )


def choose_layer(event: Any, layers: int) -> None:
    """Take the layer of a clicked point; for callbacks."""
    point = selected_point(event, layers + 1)
    if point is not None:
        st.session_state[state.LAYER] = min(point, layers - 1)


def norm_words(norms: ResidualNorms, token: int, pieces: Sequence[bytes], layer: int) -> None:
    """Explain the chosen layer's numbers, and the jump where there is one."""
    before, after = norms.stream[layer, token], norms.stream[layer + 1, token]
    st.markdown(
        f"**Layer {layer}, token {token}:** the vector comes in with length {before:,.1f}. "
        f"Attention adds a vector of length {norms.attn_out[layer, token]:,.1f}, the feed-forward "
        f"network one of {norms.mlp_out[layer, token]:,.1f}; it goes out with {after:,.1f}."
    )
    jump = jump_of(norms)
    if jump is None:
        return
    place, where = jump
    st.markdown(
        f"**The jump.** In layer {place} the feed-forward network adds a vector of length "
        f"{norms.mlp_out[place, where]:,.0f} to token {where}, "
        f"{markdown(visible(pieces[where], limit=14))}: its length goes from "
        f"{norms.stream[place, where]:,.0f} to {norms.stream[place + 1, where]:,.0f}. It is the "
        "same huge vector for every prompt, in a few dimensions; the norm before each later part "
        "shrinks the whole vector to a common length, so at this token little else is left to be "
        "read. That makes it a resting place for attention (the sink). It stays until a late layer "
        "takes it away again."
    )


def jump_of(norms: ResidualNorms) -> tuple[int, int] | None:
    """Return (layer, token) of a block that makes a vector ten times as long, or None.

    The first layers do that to every vector, so only blocks from the third on count.
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
        title=f"The feed-forward network adds the longer vector in {more} of {len(mlp)} layers",
        key=key,
        y_title="length (L2 norm)",
        log=True,
        selected=layer,
        height=300,
    )
