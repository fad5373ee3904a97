"""Feed-forward and residual stream: what a block adds, and when the answer appears."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from components.feed_forward import block, block_picture, depth, residual_stream
from components.feed_forward import neurons as feed_forward_view
from components.kit.layout import side_by_side
from components.kit.show import chart
from components.kit.tasks import Task
from components.link import keys
from engine.model.weights import DEFAULT
from engine.observe.edits import KnockOutMlp
from pages.feed_forward import answer_view, guess
from pages.frame import frame, results
from pages.interpret import knockout

live = frame.live_prompt()
trace = live.trace()
pieces = [token.data for token in live.tokens]
shape, tokenizer = live.model.architecture, live.model.tokenizer
norms = results.residual_norms(live.model.source, live.ids)


def select(*, head: bool = False, boxes: bool = True) -> tuple[int, int]:
    """Draw the choice of layer and token, and of a head if it is wanted; return the first two."""
    start = results.telling_head(live.model.source, live.ids)
    frame.selection(live, layer=True, head=head, token=True, start=start, boxes=boxes)
    return st.session_state[keys.LAYER], st.session_state[keys.TOKEN]


def visual() -> None:
    """Draw the view that is open."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        view = feed_forward_view.views()
        # Where the answer appears, the chips of the picture choose the layer.
        layer, token = select(
            head=view == feed_forward_view.AWAY, boxes=view != feed_forward_view.ANSWER
        )
    draw: dict[str, Callable[[int, int], None]] = {
        feed_forward_view.ANSWER: partial(answer_view.show, live, trace),
        feed_forward_view.BLOCK: one_block,
        feed_forward_view.NEURONS: neurons,
        feed_forward_view.STREAM: stream,
        feed_forward_view.AWAY: lambda *_: knockout.show(
            live, results.head_scores(live.model.source, live.ids)
        ),
    }
    draw[view](layer, token)


def one_block(layer: int, token: int) -> None:
    """Draw the chosen block on the chosen token, and the numbers of the box that is open."""
    from engine.attention.head_steps import head_outputs
    from engine.feed_forward import neurons as feed_forward
    from engine.feed_forward.block import block_run

    run = block_run(trace, layer, token)
    box = block.opened(block_picture.BOXES, block_picture.MLP)
    with st.container(key="main_picture"):
        st.markdown(f"##### {feed_forward_view.block_title(norms, token, pieces, layer)}")
        block_picture.block_picture(
            shape, run, selected=box, key="block_picture", on_select=block.open_box
        )
    st.caption(block.order_of_norms(run))
    if box in {block_picture.PRE, block_picture.POST}:
        vector = run.resid_pre if box == block_picture.PRE else run.resid_post
        block.show_vector(vector, f"{box} of token {token + 1}", key="vector")
    elif box == block_picture.ATTENTION:
        block.show_attention(head_outputs(trace, layer, token), layer, token)
    elif box == block_picture.MLP:
        neuron_run = feed_forward.token_neurons(trace, layer, token)
        block.show_mlp(neuron_run, feed_forward.strongest(neuron_run, 8), shape)
    elif box == block_picture.NORM_1:
        block.show_norm(run.attention_norm, f"{shape.norm} before attention")
    else:
        block.show_norm(run.mlp_norm, f"{shape.norm} before the feed-forward network")


def neurons(layer: int, token: int) -> None:
    """Draw the chosen token's strongest neurons in this layer."""
    from engine.feed_forward import neurons as feed_forward

    run = feed_forward.token_neurons(trace, layer, token)
    strongest = feed_forward.strongest(run, feed_forward_view.SHOWN_NEURONS).tolist()
    bytes_of, half = tokenizer.bytes_of, feed_forward.half_of_the_work(run)
    rows = feed_forward.neurons_tokens(live.model, layer, strongest, n=2)
    words = [
        feed_forward_view.pushed_words(run, neuron, row, bytes_of)
        for neuron, row in zip(strongest, rows, strict=True)
    ]
    with st.container(key="main_picture"):
        left, right = side_by_side(2, 1)
    with left:
        neuron = feed_forward_view.show_neurons(run, strongest, half, pieces[token], words)
    with right:
        pushed = feed_forward.neuron_tokens(live.model, layer, neuron, n=6)
        feed_forward_view.show_neuron(run, neuron, pushed, bytes_of, activation=shape.activation)
        feed_forward_view.show_firing(trace.neurons(layer)[:, neuron], pieces, neuron, layer)


def stream(layer: int, token: int) -> None:
    """Draw how long the vectors are, layer by layer, and how they turn."""
    from engine.feed_forward import neurons as feed_forward

    choose = partial(residual_stream.choose_layer, layers=shape.layers)
    with st.container(key="main_picture"):
        left, right = side_by_side(2, 1)
    figure = residual_stream.norm_figure(norms, token, pieces, layer, key="norms")
    with left:
        chart(figure, key="norms", alt="Length of the residual stream by layer", on_select=choose)
    with right:
        default = live.model.source == DEFAULT
        residual_stream.norm_words(norms, trace.mlp_out, token, pieces, layer, default=default)
    left, right = side_by_side(1, 1)
    figure = residual_stream.added_figure(norms, token, layer, key="added")
    with left:
        chart(figure, key="added", alt="Length of what each layer adds", on_select=choose)
    cosines = feed_forward.layer_cosines(trace, token)
    figure = residual_stream.cosine_figure(cosines, layer, token, key="cosines")
    with right:
        chart(figure, key="cosines", alt="Cosines between the layers of this token")


def in_depth() -> None:
    """Show the formulas with this prompt's numbers."""
    from engine.feed_forward import neurons as feed_forward

    layer, token = select()
    run = feed_forward.token_neurons(trace, layer, token)
    depth.show(shape, run, norms, place=(layer, token))


def tasks() -> list[Task]:
    """Return what to try."""
    from engine.feed_forward import neurons as feed_forward

    layer, token = select()
    run = feed_forward.token_neurons(trace, layer, token)
    found = depth.tasks(run, norms, layer, token)
    there = {keys.FEED_FORWARD_PART: feed_forward_view.AWAY}
    away = knockout.task(live, part=KnockOutMlp, bits=10.0, text=depth.AWAY_TASK, place=there)
    return [*found, away]


frame.views(visual, in_depth, tasks, lambda: guess.ask(live))
