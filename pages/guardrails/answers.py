"""Answers under a guard: written token by token once, and kept for this session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.guardrails import view
from pages.frame.live import Live
from pages.frame.loading import loaded_model

if TYPE_CHECKING:
    from engine.guardrails.ban import SequenceBan, TokenBan
    from engine.guardrails.batch import Guard, RowStep
    from engine.guardrails.comparison import Tally
    from engine.guardrails.scenario import Scenario

KEPT = "guarded_answers"
MOST_KEPT = 40
RAN = "guard_job_ran"
BUDGET = 24
COMPARE_BUDGET = 16
SEEDS = range(10)


@st.cache_resource(max_entries=16, show_spinner=False)
def bans(source: str, word: str) -> tuple[TokenBan, SequenceBan]:
    """Return the two bans on a word; sorting the vocabulary takes a moment."""
    from engine.guardrails.ban import SequenceBan, TokenBan

    model = loaded_model(source)
    if model is None:
        raise RuntimeError("The model must be loaded before its tokens are banned.")
    return TokenBan(model.tokenizer, word), SequenceBan(model.tokenizer, word)


def kept(live: Live, name: str, ids: Sequence[int]) -> tuple[RowStep, ...] | None:
    """Return an answer of this session, if it was written already."""
    answers: dict[Any, tuple[RowStep, ...]] = st.session_state.setdefault(KEPT, {})
    return answers.get(_key(live, name, ids))


def show_answer(
    live: Live,
    name: str,
    ids: Sequence[int],
    word: str,
    *,
    asked: bool,
    guard: Guard | None = None,
    budget: int = BUDGET,
) -> tuple[RowStep, ...] | None:
    """Show an answer: the one that is kept, or a new one as it is written if `asked`."""
    from engine.guardrails.comparison import write
    from engine.guardrails.scenario import leaks

    place = st.empty()
    steps = kept(live, name, ids)
    if steps is None and asked:
        written: list[RowStep] = []
        run = write(
            live.model, ids, live.settings, seed=live.seed, max_new_tokens=budget, guard=guard
        )
        with contextlib.closing(run):
            for step in run:
                written.append(step)
                place.html(view.answer("".join(one.text for one in written), leaked=False))
        steps = tuple(written)
        answers = st.session_state[KEPT]
        while len(answers) >= MOST_KEPT:
            answers.pop(next(iter(answers)))
        answers[_key(live, name, ids)] = steps
    if steps is None:
        place.caption("Not asked yet.")
        return None
    text = "".join(step.text for step in steps)
    leaked = leaks(text, word)
    place.html(view.answer(text, leaked=leaked, note=view.verdict(leaked)))
    return steps


def job_button(label: str, *, key: str = "ask", primary: bool = False) -> bool:
    """Draw the button that starts a run, and Stop while it goes on; say whether to run."""
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = st.button(
            label,
            key=key,
            icon=":material/play_arrow:",
            type="primary" if primary else "secondary",
        )
        if asked:
            # A click on it ends this script, and with it the run, within a token.
            st.button("Stop", key=f"stop_{key}", icon=":material/stop_circle:")
    st.session_state[RAN] = asked or st.session_state.get(RAN, False)
    return asked


def ask_button(label: str = "Ask without and with the guard") -> bool:
    """Draw the button that has the question answered."""
    return job_button(label, primary=True)


def finish() -> None:
    """After a run: draw the page once more, without Stop."""
    if st.session_state.pop(RAN, False):
        st.rerun()


def sampled(
    live: Live, ids: Sequence[int], guard: Guard, *, count: int, budget: int
) -> list[tuple[str, bool]]:
    """Write `count` answers under a guard; return each text and whether it came to its end."""
    from engine.guardrails.batch import write_rows

    rows, bar = len(SEEDS), st.progress(0.0, text="Drawing …")
    done: list[tuple[str, bool]] = []
    for first in range(0, count, rows):
        texts, ended = [""] * rows, [False] * rows
        for steps in write_rows(
            live.model,
            ids,
            live.settings,
            seeds=range(first, first + rows),
            max_new_tokens=budget,
            guard=guard,
        ):
            bar.progress(first / count, text=f"Drawing, {first} of {count} …")
            for row, step in enumerate(steps):
                if step is not None:
                    texts[row] += step.text
                    ended[row] = step.id in live.model.stop_ids
        done += zip(texts, ended, strict=True)
    bar.empty()
    return done


def compared(live: Live, scenario: Scenario) -> Iterator[tuple[Tally, ...]]:
    """Run every guard over all wordings and seeds; yield the tallies as they grow."""
    from engine.guardrails.comparison import compare

    total, bar = 5 * len(scenario.wordings()), st.progress(0.0, text="Asking …")
    done = 0
    passes = 0

    def tick() -> None:
        nonlocal passes
        passes += 1
        share = min(1.0, (done + min(1.0, passes / COMPARE_BUDGET)) / total)
        bar.progress(share, text=f"Asking, batch {done + 1} of {total} …")

    rounds = compare(
        live.model,
        scenario,
        live.settings,
        seeds=SEEDS,
        max_new_tokens=COMPARE_BUDGET,
        tick=tick,
    )
    for tallies in rounds:
        done, passes = done + 1, 0
        yield tallies
    bar.empty()


def _key(live: Live, name: str, ids: Sequence[int]) -> tuple[Any, ...]:
    return live.model.source, tuple(ids), live.settings, live.seed, name
