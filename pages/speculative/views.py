"""Two questions of the speculative decoding page: when does it pay, and is it the same law?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.layout import FULL, side_by_side
from components.kit.show import chart
from components.kit.text import markdown, shorten
from components.speculative import law_bars, pay
from components.speculative.recorded import recorded
from pages.frame import job
from pages.frame.kept import keep, kept
from pages.frame.live import Live
from pages.speculative import races

if TYPE_CHECKING:
    from engine.speculative.law import LawCheck, TextLaw

LAW, LAW_COUNTS = "count_law", "draft_law"
"""The job of counting rounds, and what it leaves in the session."""


def comparison(live: Live, choice: races.Choice) -> None:
    """Draw which draft pays, and for which k: measured on this prompt, or recorded on two."""
    wanted: Sequence[races.Choice] | None = job.asked(races.COMPARE)
    if wanted is None:
        _comparison_picture(live, choice)
    every = [replace(choice, kind=kind) for kind in races.kinds(live)]
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, key, choices in (
            ("Measure this draft here", "compare", [choice]),
            ("Measure all drafts here", "compare_all", every),
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
        st.caption("On your prompt, k = 1 … 8, in turns with plain decoding: some minutes for all.")
    job.say_problem(races.COMPARE)
    if wanted is not None:
        bar = st.progress(0.0)
        with job.running(races.COMPARE):
            job.follow(
                races.compare(live, wanted), lambda step: bar.progress(step[1], text=step[0])
            )


def _comparison_picture(live: Live, choice: races.Choice) -> None:
    found = races.pays(live, choice.budget)
    with st.container(key="main_picture", gap="xsmall"):
        if found:
            _speeds(found, "pays")
            st.markdown(pay.verdict(found))
        else:
            recording = recorded()
            names = ("A text that copies", "An open text")
            places = side_by_side(1, 1)
            for place, name, measured in zip(places, names, recording.pays, strict=True):
                with place:
                    st.markdown(f"**{name}:** “{markdown(shorten(measured.prompt, 34))}”")
                    _speeds(measured.drafts, f"pays_{name}")
            st.caption(
                f":blue-badge[recorded] {markdown(recording.model)}, greedy, "
                f"{recording.pays[0].tokens} tokens each. A draft pays where its guesses come "
                "true; above the dashed line it is faster than plain decoding."
            )
    if found:
        st.dataframe(pay.table(found), hide_index=True, key="pay_table")


def _speeds(found: pay.Measured, key: str) -> None:
    chart(
        pay.speed_lines(found, key=key),
        key=key,
        alt="Speed-up against the number of guesses, one line per draft",
    )


def law_draft() -> str:
    """Draw the choice of a made-up draft, and return its name."""
    return str(
        st.pills(
            "Draft of the picture",
            list(law_bars.DRAFTS),
            key="law_draft",
            default=next(iter(law_bars.DRAFTS)),
            required=True,
            label_visibility="collapsed",
        )
    )


def law(live: Live, name: str, choose: Callable[[], races.Choice]) -> None:
    """Draw the law on a small vocabulary; count many runs of this model.

    Args:
        live: the prompt.
        name: of the made-up draft.
        choose: draws the choice of a draft for this model.
    """
    wanted = job.asked(LAW)
    if wanted is not None:
        _count_rounds(live, name)
    own: LawCheck | None = kept(LAW_COUNTS, (name, live.seed))
    found = own or recorded().laws[name]
    with st.container(key="main_picture", gap="xsmall"):
        chart(
            law_bars.law_bars(found, law_bars.DRAFTS[name], key="law"),
            key="law",
            alt="For three words: the draft's share, and what is kept and redrawn, which make p",
            room=FULL,
        )
    badge = "counted here" if own else "recorded"
    st.markdown(f":blue-badge[{badge}] {law_bars.law_words(found)}")
    job.start_button(
        f"Count {law_bars.ROUNDS:,} rounds here",
        LAW,
        running=wanted is not None,
        icon=":material/functions:",
    )
    st.markdown("##### This model, the first three tokens")
    _texts(live, choose())


def _count_rounds(live: Live, name: str) -> None:
    from engine.speculative.law import check_law

    with job.running(LAW), st.spinner("Counting …"):
        draft = law_bars.DRAFTS[name]
        counted = check_law(law_bars.MODEL, draft, rounds=law_bars.ROUNDS, seed=live.seed)
        keep(LAW_COUNTS, (name, live.seed), counted, most=8)


def _texts(live: Live, choice: races.Choice) -> None:
    """Count the first three tokens of this model with the chosen draft."""
    st.markdown(
        "The same with real text: only the three likeliest tokens may come at each place (top-k "
        "3), so at most 27 texts are possible. Passes without a draft give the exact probability "
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
