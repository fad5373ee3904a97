"""The speculative decoding page's two questions: does it pay, and is it the same distribution?"""

from __future__ import annotations

import streamlit as st

from components import draft_pay
from components.chart import chart
from pages.shared import drafting
from pages.shared.live import Live


def comparison(live: Live, choice: drafting.Choice) -> None:
    """Measure and draw for which k it pays."""
    running = st.session_state.pop(drafting.COMPARING, False)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            *("Measure k = 1 … 8", "compare"),
            icon=":material/timer:",
            disabled=running,
            on_click=lambda: st.session_state.update({drafting.COMPARING: True}),
        )
        st.button("Stop", "stop_compare", icon=":material/stop_circle:", disabled=not running)
        st.caption("Eight races with this draft and prompt, here and now.")
    if running:
        bar = st.progress(0.0)
        for k, share in drafting.compare(live, choice):
            bar.progress((k - 1 + share) / 8, text=f"k = {k} of 8")
        st.rerun()
    found = drafting.pays(live, choice)
    if found:
        st.markdown(draft_pay.verdict(found))
        figure = draft_pay.speed_lines(found, key="pays")
        chart(figure, key="pays", alt="Speed-up against the number of guesses")
        st.dataframe(draft_pay.table(found), hide_index=True, key="pay_table")


def law(seed: int) -> None:
    """Count 20,000 rounds on a small vocabulary."""
    st.markdown("p = [0.6, 0.3, 0.1] and a draft that is far off, q = [0.2, 0.5, 0.3]:")
    if st.button("Count 20,000 rounds", "count_law", icon=":material/functions:"):
        from engine.draft_law import check_law

        found = check_law([0.6, 0.3, 0.1], [0.2, 0.5, 0.3], rounds=20_000, seed=seed)
        st.session_state["law"] = found
    if "law" in st.session_state:
        st.markdown(draft_pay.law_words(st.session_state["law"]))
