"""Which head matters for the answer: every head taken away once, live or recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from components.interpret import knockout, recorded_sweeps
from components.interpret import sweep as sweep_view
from components.kit.arrays import Array
from components.kit.layout import FULL
from components.kit.show import chart
from components.kit.text import markdown, quoted, visible
from components.link import keys
from components.link.selection import pick
from engine.model.weights import DEFAULT
from engine.observe.edits import KnockOutHead
from pages.frame import job, results

if TYPE_CHECKING:
    from engine.interpret.looking import Looking
    from pages.frame.live import Live

CHOSEN = "sweep_chosen"
SWEEP = "sweep"


def head_that_matters(live: Live) -> tuple[int, int]:
    """Return the head whose removal lowers the likeliest token most, as far as that is known."""
    ids, _ = results.top_tokens(live.model.source, live.ids)
    table, _ = _table(live, ids[0])
    if np.isnan(table).any():
        return results.telling_head(live.model.source, live.ids)
    layer, head = np.unravel_index(table.argmin(), table.shape)
    return int(layer), int(head)


def show(live: Live) -> None:
    """Draw which heads matter, and that looking is not mattering."""
    st.markdown("#### Which head matters for the answer?")
    _panel(live)


def _table(live: Live, token: int) -> tuple[Array, bool]:
    """Return the token's probability without each head, and whether that was recorded."""
    live_table = results.sweep_table(live.model.source, live.ids, token)
    if live.model.source == DEFAULT and np.isnan(live_table).all():
        kept = recorded_sweeps.find(live.ids, token)
        if kept is not None:
            return kept.table(), True
    return live_table, False


@st.fragment
def _panel(live: Live) -> None:
    """Draw what is known of the sweep, and the button that runs it."""
    if st.session_state.pop(CHOSEN, False):
        st.rerun()  # what a click chose is drawn outside of this fragment
    bytes_of = live.model.tokenizer.bytes_of
    ids, probabilities = results.top_tokens(live.model.source, live.ids)
    names = {token: f"{visible(bytes_of(token), limit=20)} ({token})" for token in ids}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        token = int(
            st.selectbox(
                "Probability of",
                ids,
                format_func=lambda i: names[i],
                key="sweep_token",
                width=220,
            )
        )
        table, recorded = _table(live, token)
        running = results.sweep_table(live.model.source, live.ids, token)
        done = int(np.isfinite(running[:, 0]).sum())
        label = "Run it here" if recorded else "Go on" if done else "Take each head away, in turn"
        wanted = job.button(label, SWEEP, disabled=done == len(running))
    if wanted:
        _run(live, token, running)
    passes = f"{table.size} passes with one head less each, several at a time"
    if recorded:
        st.caption(f"Recorded with this model on this prompt: {passes}.")
    elif np.isnan(table).all():
        st.caption(f"{passes}; 10 to 60 seconds for a short prompt. What is done stays.")
        return
    plain = probabilities[ids.index(token)]
    if np.isfinite(table).all():
        _looking(live, table, plain, quoted(bytes_of(token)))
    _heads(table, plain, quoted(bytes_of(token)))


def _take(place: tuple[int, int]) -> None:
    """Take a head away and choose it; for callbacks."""
    st.session_state[keys.LAYER], st.session_state[keys.HEAD] = place
    knockout.only(KnockOutHead(*place))
    st.session_state[CHOSEN] = True


def _heads(table: Array, plain: float, name: str) -> None:
    """Draw what is known of the sweep; a click takes that head away."""

    def choose(event: Any) -> None:
        place = sweep_view.selected_sweep_head(event, table)
        if place is not None:
            _take(place)

    chart(
        sweep_view.sweep_figure(table, plain, name, key="sweep_chart"),
        key="sweep_chart",
        alt=f"How the probability of {name} changes without each head",
        on_select=choose,
        room=FULL,
    )


def _looking(live: Live, table: Array, plain: float, answer: str) -> None:
    """Draw each head's attention on a token beside the answer without that head."""
    from engine.attention.patterns import readers
    from engine.interpret.looking import compare

    pieces = [token.data for token in live.tokens]
    last = len(pieces) - 1
    layer, head = results.telling_head(live.model.source, live.ids)
    row = live.trace().pattern(layer)[head, last]
    start = 1 + int(row[1:last].argmax()) if last > 1 else 0
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Attention of the last token on", width="content")
        entry = keys.Limit(keys.READ, "Token that is read", 0, last, start, 1, whole=True)
        read = pick(entry, lambda i: f"{i + 1}: {visible(pieces[i], limit=14)}", width=170)
    shares = readers(live.trace(), last, read).shares
    found = compare(shares, table, plain)

    def choose(event: Any) -> None:
        place = sweep_view.selected_dot(event, found)
        if place is not None:
            _take(place)

    chart(
        sweep_view.looking_figure(found, read=quoted(pieces[read]), answer=answer, key="looking"),
        key="looking",
        alt="Every head by its attention on a token and by the answer without it",
        on_select=choose,
        room=FULL,
    )
    _looking_words(found, quoted(pieces[read]), answer)


def _looking_words(found: Looking, read: str, answer: str) -> None:
    """Offer the heads that say it best, and say how well the two orders agree."""
    with st.container(horizontal=True):
        for name, place in sweep_view.telling(found).items():
            st.button(
                markdown(sweep_view.head_words(found, place, read, answer)),
                key=f"telling_{name}",
                on_click=_take,
                args=(place,),
            )
    st.caption(
        f"A dot is a head; the dotted line is the answer with all heads. Over all "
        f"{found.shares.size} heads the two orders, who looks most and whose removal changes most, "
        f"agree by {found.agreement:.2f} (rank correlation: 1 is the same order, 0 none)."
    )


def _run(live: Live, token: int, table: Array) -> None:
    """Fill the table layer by layer."""
    from engine.interpret import knockout as engine_knockout

    missing = [int(i) for i in np.flatnonzero(np.isnan(table[:, 0]))][::-1]
    bar = st.progress(0.0, text="Taking away the heads of the last layer …")

    def show_step(step: engine_knockout.SweepStep) -> None:
        table[step.layer] = step.probabilities
        done = len(missing) - int(np.isnan(table[missing, 0]).sum())
        bar.progress(done / len(missing), text=f"Layer {step.layer} done")

    with job.running(SWEEP):
        job.follow(engine_knockout.sweep(live.trace(), token, layers=missing), show_step)
