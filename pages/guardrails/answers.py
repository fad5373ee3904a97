"""Answers under a guard: each written once, token by token, and kept for this session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.guardrails import view
from components.guardrails.recorded import BUDGET as COMPARE_BUDGET
from components.guardrails.recorded import SEEDS
from components.link import keys
from components.link.changes import change
from engine.basics.errors import EngineError
from pages.frame import job
from pages.frame.kept import keep
from pages.frame.kept import kept as kept_result
from pages.frame.live import Live
from pages.frame.loading import model_in_use
from pages.frame.shared import shared

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from engine.guardrails.ban import SequenceBan, TokenBan
    from engine.guardrails.batch import Guard, RowStep
    from engine.guardrails.comparison import Tally
    from engine.guardrails.scenario import Scenario

ASK = "ask"
HALTED = "guards_halted"
"""Of the session: the answers that somebody stopped, so that they are not begun again."""
KEPT = "guarded_answers"
MOST_KEPT = 40
BUDGET = 24


@shared
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
    scenario: Scenario,
    *,
    asked: bool,
    guard: Guard | None = None,
    budget: int = BUDGET,
) -> tuple[RowStep, ...] | None:
    """Show an answer: the one that is kept, or a new one as it is written if `asked`.

    An answer is kept when it is whole: half of one says nothing about a leak.
    """
    place = st.empty()
    steps = kept(live, name, ids)
    if steps is None and asked:
        steps = _write(live, name, ids, place, guard, budget)
    if steps is None:
        place.caption("Not written yet.")
        return None
    cut = f"Cut after {budget} tokens." if steps[-1].cut else ""
    found = judge(text_of(steps), scenario, cut=cut)
    place.html(view.answer(text_of(steps), found.colour, found.words))
    return steps


def _write(
    live: Live,
    name: str,
    ids: Sequence[int],
    place: DeltaGenerator,
    guard: Guard | None,
    budget: int,
) -> tuple[RowStep, ...]:
    """Write an answer, drawing each token, and keep it."""
    from engine.guardrails.comparison import write

    written: list[RowStep] = []

    def show(step: RowStep) -> None:
        written.append(step)
        place.html(view.answer(text_of(written), view.HELD))

    run = write(live.model, ids, live.settings, seed=live.seed, max_new_tokens=budget, guard=guard)
    job.follow(run, show)
    keep(KEPT, _key(live, name, ids), tuple(written), most=MOST_KEPT)
    return tuple(written)


def text_of(steps: Sequence[RowStep]) -> str:
    """Return the text of an answer."""
    return "".join(step.text for step in steps)


def judge(text: str, scenario: Scenario, *, cut: str = "") -> view.Verdict:
    """Return the verdict on what a person reads."""
    from engine.guardrails.filters import tells
    from engine.guardrails.scenario import leaks

    return view.verdict(leaks(text, scenario.word), tells(text, scenario.meaning), cut=cut)


@contextlib.contextmanager
def writing(live: Live, wanted: Sequence[tuple[str, Sequence[int]]]) -> Iterator[bool]:
    """Draw Stop, or what can be asked next; the answers are shown inside.

    What is missing is written at once, without a click, until somebody presses Stop.

    Args:
        live: the model, its settings and the seed.
        wanted: the name and the prompt of each answer of this view.

    Yields:
        Whether missing answers are to be written now.
    """
    request = tuple(_key(live, name, ids) for name, ids in wanted)
    missing = any(kept(live, name, ids) is None for name, ids in wanted)
    halted = job.asked(ASK) is None and st.session_state.get(HALTED) == request
    now = missing and not halted
    with st.container(horizontal=True, vertical_alignment="center"):
        if now:
            job.stop_button(ASK, lambda: _halt(request))
        elif missing:
            job.start_button("Write the answers", ASK, running=False, primary=True)
        else:
            st.button(
                "Ask with the next seed",
                key="next_seed",
                icon=":material/casino:",
                on_click=_next_seed,
                args=(live.seed,),
            )
            st.caption(f"Written with seed {live.seed}.", width="content")
    job.say_problem(ASK)
    with job.running(ASK) if now else contextlib.nullcontext():
        try:
            yield now
        except EngineError:
            _halt(request)  # or it would be tried again and again
            raise


def _halt(request: tuple[Any, ...]) -> None:
    st.session_state[HALTED] = request


def _next_seed(seed: int) -> None:
    change(f"The seed is now {seed + 1}.", {keys.SEED: seed + 1})


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
