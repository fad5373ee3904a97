"""The answers to each prompt, as a tree of branches, kept for this session.

A callback only notes what is wanted; the script takes the note out before it writes. So when Stop,
another page or a closed tab ends the script, nothing goes on writing, and every token that was
made is there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import streamlit as st

from engine.generation.branches import Setup, Tree, Written
from engine.generation.releases import Ending, Release, releases
from pages.frame.live import Live

TREES = "answers"
WANTED = "answer_wanted"
BRANCH = "answer_branch"
STEP = "answer_step"
PROBLEM = "answer_problem"
MOST_PROMPTS = 8
"""Of so many prompts the answers are kept."""


@dataclass(frozen=True)
class Wanted:
    """A run that was asked for."""

    branch: int | None
    """The answer to go on with; None begins a branch."""
    parent: int | None = None
    at: int = 0
    forced: tuple[int, ...] = ()


def tree(live: Live) -> Tree:
    """Return the answers to this very prompt."""
    found: Tree = st.session_state.get(TREES, {}).get(_base(live), Tree())
    return found


def current(live: Live) -> int | None:
    """Return the branch that is shown, or None if nothing has been written."""
    count = len(tree(live).branches)
    if not count:
        return None
    chosen = st.session_state.get(BRANCH, {}).get(_base(live), count - 1)
    return min(int(chosen), count - 1)


def shown(live: Live) -> tuple[Written, ...]:
    """Return the answer that is shown."""
    branch = current(live)
    return () if branch is None else tree(live).path(branch)


def log_of(live: Live, answer: tuple[Written, ...]) -> tuple[tuple[Release, ...], Ending]:
    """Return what the detokenizer did with each token of an answer."""
    stop = answer[-1].setup.stop if answer else ()
    # What other stop strings had let pass stays, as it did when it was written.
    others = [i for i, part in enumerate(answer, start=1) if part.setup.stop != stop]
    return releases(
        live.model.tokenizer,
        [part.step.id for part in answer],
        stop=stop,
        stop_ids=live.model.stop_ids,
        written=others[-1] if others else 0,
    )


def show(live: Live, branch: int, step: int | None = None) -> None:
    """Show another branch, at one of its tokens (by default the last)."""
    st.session_state[BRANCH] = {**st.session_state.get(BRANCH, {}), _base(live): branch}
    length = len(tree(live).path(branch))
    st.session_state[STEP] = length if step is None else min(step + 1, length)


def begin(live: Live) -> None:
    """Ask for another answer, from the prompt on."""
    st.session_state[WANTED] = Wanted(None)


def go_on(live: Live) -> None:
    """Ask for more of the answer that is shown."""
    st.session_state[WANTED] = Wanted(current(live))


def take(live: Live, at: int, token_id: int) -> None:
    """Ask for a branch that takes another token after `at` tokens; go there if there is one."""
    existing = branch_with(live, at, token_id)
    if existing is not None:
        show(live, existing, at)
    else:
        st.session_state[WANTED] = Wanted(None, current(live), at, (token_id,))


def branch_with(live: Live, at: int, token_id: int) -> int | None:
    """Return an answer with the same beginning in which this token comes after `at` tokens."""
    answers = tree(live)
    wanted = (*(written.step.id for written in shown(live)[:at]), token_id)
    for branch in range(len(answers.branches)):
        if answers.ids(branch)[: at + 1] == wanted:
            return branch
    return None


def forget(live: Live) -> None:
    """Forget all answers to this prompt."""
    for key in (TREES, BRANCH):
        kept = dict(st.session_state.get(key, {}))
        kept.pop(_base(live), None)
        st.session_state[key] = kept


def wanted() -> Wanted | None:
    """Take out what was asked for: only one script run may act on it."""
    asked: Wanted | None = st.session_state.pop(WANTED, None)
    return asked


def write(
    live: Live, asked: Wanted, setup: Setup, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[tuple[Written, ...]]:
    """Write what was asked for; keep each token as it comes and yield the answer so far."""
    from engine.generation.loop import generate

    branch = asked.branch
    if branch is not None:
        before = tree(live).ids(branch)
    elif asked.parent is None:
        before = ()
    else:
        before = tree(live).ids(asked.parent)[: asked.at]
    steps = generate(
        live.model,
        live.ids,
        setup.settings,
        max_new_tokens=setup.budget,
        seed=setup.seed,
        stop=setup.stop,
        written=before,
        forced=asked.forced,
        cancelled=cancelled,
    )
    with contextlib.closing(steps):
        for step in steps:
            answers = tree(live)
            if branch is None:
                answers = answers.with_branch(asked.parent, asked.at)
                branch = len(answers.branches) - 1
            _keep(live, answers.with_token(branch, Written(step, setup)))
            show(live, branch)
            yield tree(live).path(branch)


def _keep(live: Live, answers: Tree) -> None:
    """Store a tree as that of the prompt used last, and forget the oldest beyond the bound."""
    trees = dict(st.session_state.get(TREES, {}))
    trees.pop(_base(live), None)
    trees[_base(live)] = answers
    st.session_state[TREES] = dict(list(trees.items())[-MOST_PROMPTS:])


def _base(live: Live) -> tuple[str, tuple[int, ...]]:
    return live.model.source, live.ids
