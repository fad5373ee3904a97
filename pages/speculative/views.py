"""Two questions of the speculative decoding page: when does it pay, and is it the same law?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.show import chart
from components.speculative import pay
from pages.frame import job
from pages.frame.live import Live
from pages.speculative import races

if TYPE_CHECKING:
    from engine.speculative.law import TextLaw


def comparison(live: Live, choice: races.Choice) -> None:
    """Measure and draw which draft pays, and for which k."""
    wanted: Sequence[races.Choice] | None = job.asked(races.COMPARE)
    every = [replace(choice, kind=kind) for kind in races.kinds(live)]
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, key, choices in (
            ("Measure this draft", "compare", [choice]),
            ("Measure all drafts", "compare_all", every),
        ):
            job.start_button(
                label,
                races.COMPARE,
                running=wanted is not None,
                key=key,
                wanted=choices,
                icon=":material/timer:",
            )
        if wanted is not None:
            job.stop_button(races.COMPARE)
        st.caption("k = 1 … 8, in turns with plain decoding. All drafts take some minutes.")
    job.say_problem(races.COMPARE)
    if wanted is not None:
        bar = st.progress(0.0)
        with job.running(races.COMPARE):
            job.follow(
                races.compare(live, wanted), lambda step: bar.progress(step[1], text=step[0])
            )
    found = races.pays(live, choice.budget)
    if found:
        st.markdown(pay.verdict(found))
        chart(
            pay.speed_lines(found, key="pays"),
            key="pays",
            alt="Speed-up against the number of guesses, one line per draft",
        )
        st.dataframe(pay.table(found), hide_index=True, key="pay_table")


def law(live: Live, choice: races.Choice) -> None:
    """Count: many rounds on a small vocabulary, many runs of this model."""
    st.markdown("##### A small vocabulary")
    st.markdown("p = [0.6, 0.3, 0.1] and a draft that is far off, q = [0.2, 0.5, 0.3]:")
    if st.button("Count 20,000 rounds", key="count_law", icon=":material/functions:"):
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
        f"of each; {races.RUNS} runs with the draft above, k = 3, are counted beside it."
    )
    if job.button(f"Count {races.RUNS} runs", races.COUNT, icon=":material/timer:"):
        bar = st.progress(0.0)

        def show(found: TextLaw) -> None:
            bar.progress(found.runs / races.RUNS, text=f"{found.runs} runs")

        with job.running(races.COUNT):
            job.follow(races.count(live, choice), show)
    counted = races.texts(live, choice)
    if counted is not None:
        st.markdown(pay.texts_words(counted))
        figure = pay.text_bars(counted, live.model.tokenizer.bytes_of, key="texts")
        chart(figure, key="texts", alt="How often each text came, beside its exact probability")
