"""The speculative decoding page's two questions: does it pay, and is it the same distribution?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from components.kit.show import chart
from components.speculative import pay
from pages.frame.live import Live
from pages.speculative import measures, races


def comparison(live: Live, choice: races.Choice) -> None:
    """Measure and draw which draft pays, and for which k."""
    wanted: Sequence[races.Choice] = st.session_state.pop(measures.COMPARING, ())
    every = [replace(choice, kind=kind) for kind in races.kinds(live)]
    with st.container(horizontal=True, vertical_alignment="center"):
        _start("Measure this draft", "compare", measures.COMPARING, [choice], bool(wanted))
        _start("Measure all drafts", "compare_all", measures.COMPARING, every, bool(wanted))
        st.button("Stop", "stop_compare", icon=":material/stop_circle:", disabled=not wanted)
        st.caption("k = 1 … 8, in turns with plain decoding. All drafts take some minutes.")
    if wanted:
        bar = st.progress(0.0)
        for name, share in measures.compare(live, wanted):
            bar.progress(share, text=name)
        st.rerun()
    found = measures.pays(live, choice.budget)
    if found:
        st.markdown(pay.verdict(found))
        chart(
            pay.speed_lines(found, key="pays"),
            key="pays",
            alt="Speed-up against the number of guesses, one line a draft",
        )
        st.dataframe(pay.table(found), hide_index=True, key="pay_table")


def law(live: Live, choice: races.Choice) -> None:
    """Count: many rounds on a small vocabulary, many runs of this model."""
    st.markdown("##### A small vocabulary")
    st.markdown("p = [0.6, 0.3, 0.1] and a draft that is far off, q = [0.2, 0.5, 0.3]:")
    if st.button("Count 20,000 rounds", "count_law", icon=":material/functions:"):
        from engine.speculative.law import check_law

        found = check_law([0.6, 0.3, 0.1], [0.2, 0.5, 0.3], rounds=20_000, seed=live.seed)
        st.session_state["law"] = found
    if "law" in st.session_state:
        st.markdown(pay.law_words(st.session_state["law"]))
    _texts(live, choice)


def _texts(live: Live, choice: races.Choice) -> None:
    """Count the first three tokens of this model with the chosen draft."""
    st.markdown("##### This model, the first three tokens")
    st.markdown(
        "With top-k 3 at most 27 texts can come. Passes without a draft give the exact probability "
        f"of each; {measures.RUNS} runs with the draft above, k = 3, are counted beside it."
    )
    running = bool(st.session_state.pop(measures.COUNTING, ()))
    with st.container(horizontal=True):
        _start(
            f"Count {measures.RUNS} runs",
            *("count_texts", measures.COUNTING, [choice], running),
        )
        st.button("Stop", "stop_count", icon=":material/stop_circle:", disabled=not running)
    if running:
        bar = st.progress(0.0)
        for found in measures.count(live, choice):
            bar.progress(found.runs / measures.RUNS, text=f"{found.runs} runs")
        st.rerun()
    counted = measures.texts(live, choice)
    if counted is not None:
        st.markdown(pay.texts_words(counted))
        figure = pay.text_bars(counted, live.model.tokenizer.bytes_of, key="texts")
        chart(figure, key="texts", alt="How often each text came, beside its exact probability")


def _start(label: str, key: str, flag: str, wanted: Sequence[races.Choice], running: bool) -> None:
    """Draw a button that asks for a measurement in the run that follows."""
    st.button(
        label,
        key,
        icon=":material/timer:",
        disabled=running,
        on_click=lambda: st.session_state.update({flag: list(wanted)}),
    )
