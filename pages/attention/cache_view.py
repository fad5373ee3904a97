"""The KV cache on the attention page: what it holds, what heads share, a race without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from components.kit.layout import side_by_side
from components.kit.show import chart
from components.kv_cache import pictures
from components.kv_cache.costs import cost_lines
from components.kv_cache.sharing import selected_query_head, sharing_figure
from components.link import keys, widgets
from pages.frame import job
from pages.frame.kept import keep, kept

if TYPE_CHECKING:
    from engine.kv_cache.step_costs import StepCost
    from engine.tracing.trace import Trace
    from pages.frame.live import Live

RACE = "race"
RESULTS = "race_results"
CONTEXT = 4_096
"""Tokens that the table of sizes is for: every model in it can read as many."""


def show(live: Live, trace: Trace, head: int) -> None:
    """Draw the panel.

    Args:
        live: the prompt.
        trace: its pass.
        head: the chosen query head.
    """
    from engine.kv_cache.sizes import KNOWN_MODELS, size_of

    size = size_of(live.model)
    with st.container(key="main_picture"):
        left, right = side_by_side(1, 1)
    with left:
        chart(
            pictures.cache_figure(trace.k, [t.data for t in live.tokens], size, key="cache"),
            key="cache",
            alt="The KV cache: one row per token, one column per layer",
        )
        st.caption(
            f"A cell is {live.model.architecture.kv_heads} keys and as many values of "
            f"{live.model.architecture.head_size} numbers. The next token adds one row: "
            f"{size.per_token:,} bytes over all layers. They may be kept because the causal mask "
            "lets no token read what comes later, so the rows of earlier tokens never change."
        )
    with right:
        _sharing(live, head)
        st.markdown(
            f"One token takes **{size.per_token:,} bytes** in {size.dtype}; if every query head "
            f"had its own keys and values it would take **{size.per_token_without_sharing:,}**."
        )
    race(live)
    st.markdown("#### What the cache weighs, by formula")
    st.latex(r"2 \cdot \mathrm{layers} \cdot \mathrm{KV\ heads} \cdot K \cdot \mathrm{bytes}")
    st.table(pictures.size_rows(size, KNOWN_MODELS, CONTEXT))


def _sharing(live: Live, head: int) -> None:
    """Draw which heads share keys and values; a click chooses a head."""
    shape = live.model.architecture

    def choose(event: Any) -> None:
        chosen = selected_query_head(event, shape.heads)
        if chosen is not None:
            st.session_state[keys.HEAD] = chosen

    chart(
        sharing_figure(shape.heads, shape.kv_heads, selected=head, key="sharing"),
        key="sharing",
        alt=f"{shape.heads} query heads share {shape.kv_heads} key/value heads",
        on_select=choose,
    )


@st.fragment
def race(live: Live) -> None:
    """Run both ways on this machine, on demand, and draw how long each step takes."""
    tokens = len(live.ids)
    st.markdown("#### With the cache and without it, on this machine")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        steps = int(widgets.slider(keys.limit(keys.RACE_STEPS)))
        wanted = job.button("Run both", RACE, icon=":material/timer:")
    if wanted:
        _run(live, steps)
    results: tuple[StepCost, ...] = kept(RESULTS, _request(live), ())
    left, right = side_by_side(1, 1)
    if results:
        with left:
            chart(
                cost_lines(results, key="race_chart"),
                key="race_chart",
                alt="Milliseconds per step against the context, with the cache and without it",
            )
        with right:
            pictures.show_race(results)
        pictures.race_table(results, live.model.tokenizer.bytes_of)
        return
    with left:
        chart(
            pictures.work_figure(min(tokens, 40), min(steps, 24), key="work"),
            key="work",
            alt="Which scores are computed in which step",
        )
    with right:
        st.markdown(pictures.work_words(tokens, steps))


def _run(live: Live, steps: int) -> None:
    """Run both ways, step by step, and keep each step."""
    from engine.kv_cache.step_costs import greedy_costs

    bar = st.progress(0.0, text="Reading the prompt …")
    results: list[StepCost] = []

    def show(cost: StepCost) -> None:
        results.append(cost)
        keep(RESULTS, _request(live), tuple(results))
        bar.progress(len(results) / steps, text=f"{len(results)} of {steps} steps")

    with job.running(RACE):
        job.follow(greedy_costs(live.model, live.ids, steps), show)


def _request(live: Live) -> tuple[str, tuple[int, ...]]:
    return live.model.source, live.ids
