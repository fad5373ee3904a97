"""Answers under a guard: each written once, token by token, and kept for this session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.guardrails import view
from pages.frame import job
from pages.frame.kept import keep
from pages.frame.kept import kept as kept_result
from pages.frame.live import Live
from pages.frame.loading import model_in_use

if TYPE_CHECKING:
    from engine.guardrails.ban import SequenceBan, TokenBan
    from engine.guardrails.batch import Guard, RowStep
    from engine.guardrails.comparison import Tally
    from engine.guardrails.scenario import Scenario

ASK = "ask"
KEPT = "guarded_answers"
MOST_KEPT = 40
BUDGET = 24
COMPARE_BUDGET = 16
SEEDS = range(10)


@st.cache_resource(max_entries=16, show_spinner=False)
def bans(source: str, word: str) -> tuple[TokenBan, SequenceBan]:
    """Return the two bans on a word; sorting the vocabulary takes a moment."""
    from engine.guardrails.ban import SequenceBan, TokenBan

    model = model_in_use(source)
    return TokenBan(model.tokenizer, word), SequenceBan(model.tokenizer, word)


def kept(live: Live, name: str, ids: Sequence[int]) -> tuple[RowStep, ...] | None:
    """Return an answer of this session, if it was written already."""
    found: tuple[RowStep, ...] | None = kept_result(KEPT, _key(live, name, ids))
    return found


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
    """Show an answer: the one that is kept, or a new one as it is written if `asked`.

    An answer is kept when it is whole: half of one says nothing about a leak.
    """
    from engine.guardrails.comparison import write
    from engine.guardrails.scenario import leaks

    place = st.empty()
    steps = kept(live, name, ids)
    if steps is None and asked:
        written: list[RowStep] = []

        def show(step: RowStep) -> None:
            written.append(step)
            place.html(view.answer("".join(one.text for one in written), leaked=False))

        run = write(
            live.model, ids, live.settings, seed=live.seed, max_new_tokens=budget, guard=guard
        )
        job.follow(run, show)
        steps = tuple(written)
        keep(KEPT, _key(live, name, ids), steps, most=MOST_KEPT)
    if steps is None:
        place.caption("Not asked yet.")
        return None
    text = "".join(step.text for step in steps)
    leaked = leaks(text, word)
    place.html(view.answer(text, leaked=leaked, note=view.verdict(leaked)))
    return steps


@contextlib.contextmanager
def ask(label: str = "Ask without and with the guard") -> Iterator[bool]:
    """Draw the button that has the question answered; the answers are shown inside.

    Yields:
        Whether they are to be written now.
    """
    asked = bool(job.button(label, ASK, primary=True))
    with job.running(ASK) if asked else contextlib.nullcontext():
        yield asked


def sampled(
    live: Live, ids: Sequence[int], guard: Guard, *, count: int, budget: int
) -> Iterator[tuple[tuple[str, bool], ...]]:
    """Write `count` answers under a guard, ten side by side.

    Yields:
        After each step, the answers that are done: the text, and whether it came to its end.
    """
    from engine.guardrails.batch import write_rows

    rows = len(SEEDS)
    done: tuple[tuple[str, bool], ...] = ()
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
            for row, step in enumerate(steps):
                if step is not None:
                    texts[row] += step.text
                    ended[row] = step.id in live.model.stop_ids
            yield done
        done += tuple(zip(texts, ended, strict=True))
        yield done


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
