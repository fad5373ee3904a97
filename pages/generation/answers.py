"""The answers to each prompt, as a tree of branches, kept for this session.

`another`, `go_on` and `take` are callbacks: they ask for a run, which the page then does by
`write`. Where nothing is written yet, `wanted` asks for the first answer by itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass

import streamlit as st

from components.link import keys
from components.link.changes import change
from engine.generation.branches import Setup, Tree, Written
from engine.generation.releases import Ending, Release, one_text, releases_of
from pages.frame import job
from pages.frame.kept import forget as forget_kept
from pages.frame.kept import keep, kept
from pages.frame.live import Live

RUN = "run"
"""The job of writing."""
TREES = "answers"
BRANCH = "answer_branch"
STOPPED = "answers_stopped"
FIRST = "first_answer"
STEP = "answer_step"
MOST_PROMPTS = 8
"""How many prompts keep their answers."""
MOST_SEEDS = 10_000
"""How many seeds are tried for another answer."""


@dataclass(frozen=True)
class Wanted:
    """A run that was asked for."""

    branch: int | None
    """The answer to go on with; None begins a branch."""
    parent: int | None = None
    at: int = 0
    forced: tuple[int, ...] = ()
    first: bool = False
    """Whether it is the answer that nobody asked for: the page arrives with it."""


def tree(live: Live) -> Tree:
    """Return the answers to this very prompt."""
    found: Tree = kept(TREES, _base(live), Tree())
    return found


def current(live: Live) -> int | None:
    """Return the branch that is shown, or None if nothing has been written."""
    count = len(tree(live).branches)
    if not count:
        return None
    return min(int(kept(BRANCH, _base(live), count - 1)), count - 1)


def shown(live: Live) -> tuple[Written, ...]:
    """Return the answer that is shown, with the text of a run without a break."""
    branch = current(live)
    return () if branch is None else _joined(live, tree(live).path(branch))


def log_of(live: Live, answer: tuple[Written, ...]) -> tuple[tuple[Release, ...], Ending]:
    """Return what the detokenizer did with each token of an answer."""
    return releases_of(answer, live.model.tokenizer, live.model.stop_ids)


def _joined(live: Live, answer: tuple[Written, ...]) -> tuple[Written, ...]:
    return one_text(answer, live.model.tokenizer, live.model.stop_ids)


def show(live: Live, branch: int, step: int | None = None) -> None:
    """Show another branch, at one of its tokens (by default the last)."""
    keep(BRANCH, _base(live), branch, most=MOST_PROMPTS)
    length = len(tree(live).path(branch))
    st.session_state[STEP] = length if step is None else min(step + 1, length)


def wanted(live: Live, setup: Setup) -> Wanted | None:
    """Take out what is to be written now; if nobody asked, the first answer to this prompt.

    The first answer goes on where it was broken off, unless somebody stopped it, has changed what
    it is written with, or the engine refused it.
    """
    asked: Wanted | None = job.asked(RUN)
    if asked is not None:
        forget_kept(FIRST, _base(live))
        return asked
    if was_stopped(live) or job.failed(RUN):
        return None
    if not tree(live).branches:
        keep(FIRST, _base(live), setup, most=MOST_PROMPTS)
        return Wanted(None, first=True)
    begun: Setup | None = kept(FIRST, _base(live))
    over = tree(live).path(0)[-1].step.stop_reason is not None
    return None if over or begun != setup else Wanted(0, first=True)


def begin(live: Live) -> None:
    """Ask for an answer, from the prompt on."""
    job.ask(RUN, Wanted(None))


def another(live: Live, now: Setup) -> None:
    """Ask for another answer; where these settings have given theirs, with the next seed.

    At temperature 0 no seed gives another one: the answer that is there is shown, and that is said.
    """
    mine = [branch for branch in tree(live).children(None) if _free_start(live, branch, now)]
    if mine and now.settings.greedy:
        show(live, mine[-1])
        st.toast("At temperature 0 nothing is drawn, so the answer must be the same: here it is.")
        return
    used = {tree(live).path(branch)[0].setup.seed for branch in mine}
    end = int(keys.limit(keys.SEED).high) + 1  # after the last seed comes the first one again
    seeds = (number % end for number in range(live.seed, live.seed + MOST_SEEDS))
    seed = next(number for number in seeds if number not in used)
    if seed != live.seed:
        change(f"Seed {seed} instead of {live.seed}, for another draw.", {keys.SEED: seed})
    begin(live)


def _free_start(live: Live, branch: int, now: Setup) -> bool:
    """Say whether an answer was begun with these settings, and not with a token taken by hand."""
    path = tree(live).path(branch)
    if not path or path[0].step.forced:
        return False
    setup = path[0].setup
    return (setup.settings, setup.stop) == (now.settings, now.stop)


def go_on(live: Live) -> None:
    """Ask for more of the answer that is shown."""
    job.ask(RUN, Wanted(current(live)))


def take(live: Live, at: int, token_id: int) -> None:
    """Ask for a branch that takes another token after `at` tokens; go there if there is one."""
    existing = branch_with(live, at, token_id)
    if existing is not None:
        show(live, existing, at)
    else:
        job.ask(RUN, Wanted(None, current(live), at, (token_id,)))


def branch_with(live: Live, at: int, token_id: int) -> int | None:
    """Return an answer with the same beginning in which this token comes after `at` tokens."""
    answers = tree(live)
    wanted = (*(written.step.id for written in shown(live)[:at]), token_id)
    for branch in range(len(answers.branches)):
        if answers.ids(branch)[: at + 1] == wanted:
            return branch
    return None


def start_over(live: Live) -> None:
    """Forget all answers to this prompt, so that a first one is written anew."""
    for name in (TREES, BRANCH, STOPPED, FIRST):
        forget_kept(name, _base(live))


def note_stop(live: Live) -> None:
    """Note that the person has stopped the answer where it is now."""
    before: tuple[tuple[int, ...], ...] = kept(STOPPED, _base(live), ())
    ids = tuple(part.step.id for part in shown(live))
    keep(STOPPED, _base(live), (*before, ids), most=MOST_PROMPTS)


def was_stopped(live: Live) -> bool:
    """Say whether the person has stopped the answer that is shown where it ends now."""
    ids = tuple(part.step.id for part in shown(live))
    return ids in kept(STOPPED, _base(live), ())


def write(live: Live, asked: Wanted, setup: Setup) -> Generator[tuple[Written, ...], None, None]:
    """Write what was asked for; keep each token as it comes and yield the answer so far."""
    from engine.generation.loop import generate

    branch = asked.branch
    if branch is not None:
        before = tree(live).ids(branch)
    elif asked.parent is None:
        before = ()
    else:
        before = tree(live).ids(asked.parent)[: asked.at]
    shared = _first(live.model.source, live.ids, setup)
    if shared and not before and not asked.forced:
        yield _adopt(live, shared)
        return
    steps = generate(
        live.model,
        live.ids,
        setup.settings,
        max_new_tokens=setup.budget - (len(before) if asked.first else 0),
        seed=setup.seed,
        stop=setup.stop,
        written=before,
        forced=asked.forced,
    )
    with contextlib.closing(steps):
        for step in steps:
            answers = tree(live)
            if branch is None:
                answers = answers.with_branch(asked.parent, asked.at)
                branch = len(answers.branches) - 1
            written = answers.with_token(branch, Written(step, setup))
            if asked.branch is not None and step.index == len(before):
                # What the run before this one released at its end was not the end after all.
                path = _joined(live, written.path(branch))
                written = written.with_own(branch, path[written.branches[branch].at :])
            keep(TREES, _base(live), written, most=MOST_PROMPTS)
            show(live, branch)
            answer = written.path(branch)
            # An answer that begins with a token taken by hand is this person's own.
            if step.stop_reason is not None and not asked.forced and (asked.first or not before):
                shared[:] = answer
            yield answer


@st.cache_resource(max_entries=16, show_spinner=False)
def _first(source: str, ids: tuple[int, ...], setup: Setup) -> list[Written]:
    """Return the place for a whole answer from the prompt on; empty until somebody wrote it.

    Prompt, settings and seed decide every token, so a class that opens the page writes it once.
    """
    return []


def _adopt(live: Live, written: list[Written]) -> tuple[Written, ...]:
    """Add an answer that was written before as a branch, and show it."""
    answers = tree(live).with_branch(None, 0)
    branch = len(answers.branches) - 1
    for part in written:
        answers = answers.with_token(branch, part)
    keep(TREES, _base(live), answers, most=MOST_PROMPTS)
    show(live, branch)
    return answers.path(branch)


def _base(live: Live) -> tuple[str, tuple[int, ...]]:
    return live.model.source, live.ids
