"""Controls of the generation page: budget, stop strings, and why a text has ended, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import counted, markdown, visible
from components.link import keys, widgets
from engine.sampling.settings import words

if TYPE_CHECKING:
    from engine.generation.branches import Setup, Written
    from engine.generation.token_step import StopReason, TokenStep

MOST_STOPS = 8
LONGEST_STOP = 60

_ESCAPES: Mapping[str, str] = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "|": "|"}


def parse_stops(text: str) -> tuple[tuple[str, ...], str | None]:
    r"""Read stop strings such as `\n\n | END`.

    Blanks beside a bar don't count; `\n`, `\t` and `\|` stand for what can't be typed.

    Returns:
        The strings, each once, and a sentence on what was left out, if anything was.
    """
    parts = re.findall(r"(?:\\.|[^|\\]|\\$)+", text)  # an escaped sign counts as one
    stops: list[str] = []
    problem = None
    for part in parts:
        stop = re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), part.strip(" "))
        if not stop or stop in stops:
            continue
        if len(stop) > LONGEST_STOP:
            problem = f"A stop string has at most {LONGEST_STOP} characters; one is left out."
        elif len(stops) == MOST_STOPS:
            problem = f"There can be at most {MOST_STOPS} stop strings; the rest is left out."
        else:
            stops.append(stop)
    return tuple(stops), problem


def run_buttons(
    answer: tuple[Written, ...],
    running: bool,
    *,
    write: Callable[[], None],
    more: Callable[[], None],
    another: Callable[[], None],
    forget: Callable[[], None],
    stop: Callable[[], None],
) -> None:
    """Draw what can be started, and Stop while a run writes.

    Args:
        answer: what is shown.
        running: whether a run writes now.
        write: called to begin an answer.
        more: called to go on with the shown one.
        another: called to begin one more.
        forget: called to forget all answers.
        stop: draws Stop.
    """
    ended = bool(answer) and answer[-1].step.stop_reason in ("end token", "stop string")
    with st.container(horizontal=True, width="content", key="run_buttons"):
        st.button(
            "Go on writing" if answer else "Write",
            key="write",
            type="primary",
            icon=":material/play_arrow:",
            disabled=running or ended,
            on_click=more if answer else write,
        )
        if running:
            stop()
        nothing = running or not answer
        st.button(
            "Another answer",
            key="write_new",
            icon=":material/replay:",
            disabled=nothing,
            on_click=another,
        )
        st.button(
            "Start over",
            key="forget",
            icon=":material/delete:",
            disabled=nothing,
            on_click=forget,
            help="Forgets all answers to this prompt and writes a first one anew.",
        )


def budget_control() -> int:
    """Draw the token budget and return it."""
    entry = keys.limit(keys.MAX_NEW_TOKENS)
    return int(
        st.slider(
            "Tokens per run, at most",
            int(entry.low),
            int(entry.high),
            int(entry.default),
            key=keys.MAX_NEW_TOKENS,
            bind="query-params",
            help="The token budget: one run ends when it has written so many. Each press of “Go on "
            "writing” is another run, which adds as many again.",
        )
    )


def budget_and_stops() -> tuple[int, tuple[str, ...]]:
    """Draw the token budget and the stop strings behind one button, and return them."""
    with st.popover("When to stop", icon=":material/front_hand:"):
        budget = budget_control()
        text = widgets.text(
            "Stop strings",
            key=keys.STOP,
            placeholder="for example: . | \\n\\n",
            help="The text ends before the first of them. A bar parts them; `\\n` is a line break.",
        )
    stops, problem = parse_stops(text)
    if problem:
        st.warning(markdown(problem))
    return budget, stops


def progress(count: int, step: TokenStep) -> str:
    """Say how far an answer is, and who shared the pass of its last token."""
    took = f"{counted(count, 'token')}, {step.milliseconds:.0f} ms for this one"
    if step.texts == 1:
        return took
    return f"{took}, in one pass with {counted(step.texts - 1, 'other text')}"


def why_it_ended(answer: tuple[Written, ...], *, stopped: bool) -> str:
    """Return one sentence of Markdown on the end of an answer.

    Args:
        answer: the answer.
        stopped: whether a person pressed Stop where it ends.
    """
    if not answer:
        return "**Stopped by you** before the first token. Write begins again." if stopped else ""
    last = answer[-1]
    reason = last.step.stop_reason
    runs = 1 + sum(part.step.stop_reason is not None for part in answer[:-1])
    count = f"{counted(len(answer), 'token')}{f' in {runs} runs' if runs > 1 else ''}. "
    if reason == "end token":
        name = markdown(visible(last.step.data))
        return (
            f"{count}**Ended by the model:** it wrote its end token {name}, which is in the list "
            "of tokens and not in the text."
        )
    if reason == "stop string":
        return f"{count}**Ended by a stop string:** the text was cut before it."
    if reason is None:
        return count + (
            "**Stopped by you.** What was written stays."
            if stopped
            else "**Broken off** when something else was done meanwhile. What was written stays."
        )
    return count + _SENTENCES[reason]


_SENTENCES: Mapping[StopReason, str] = {
    "token budget": (
        "**Ended by the token budget:** it was full. Whether the model would have stopped by "
        "itself, nobody asked."
    ),
    "context limit": "**Ended by the context limit:** the model can't read any further.",
    "cancelled": "**Stopped by you.** What was written stays.",
}


def other_settings(written: Setup, now: Setup) -> str:
    """Return a sentence, or nothing, on settings that have changed since an answer was written."""
    if (written.settings, written.seed, written.stop) == (now.settings, now.seed, now.stop):
        return ""
    return (
        " Your settings have changed since: “Go on writing” and “Another answer” use the new ones."
    )


def setup_line(answer: tuple[Written, ...], index: int) -> str:
    """Return with which settings a token was written, as Markdown."""
    setup = answer[index].setup
    named = ", ".join(words(setup.settings))
    return f"Written with {named}, seed {setup.seed}."
