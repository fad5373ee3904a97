"""The race on the page on speculative decoding: two texts side by side, and each round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.kit.show import chart
from components.kit.text import markdown, shorten
from components.speculative import recorded
from components.speculative import rounds as draft_rounds
from components.speculative.examples import change_buttons
from components.speculative.two_texts import headline, two_texts
from pages.frame import job
from pages.frame.live import Live
from pages.speculative import races

if TYPE_CHECKING:
    from engine.speculative.race import Lap


def write(live: Live, choice: races.Choice) -> None:
    """Write with and without a draft, in turns."""
    place, bar = st.empty(), st.progress(0.0)

    def show(found: tuple[Lap, ...]) -> None:
        place.html(draft_rounds.rounds_html([lap.round for lap in found if lap.round]))
        count = sum(len(lap.steps) for lap in found)
        bar.progress(min(count / choice.budget, 1.0), text=f"{count} tokens each way")

    with job.running(races.RACE):
        job.follow(races.run(live, choice), show)


def show(live: Live, choice: races.Choice) -> None:
    """Draw the race of this prompt, or the recorded one, its rounds, and ways to break it."""
    found = races.laps(live, choice)
    own = any(lap.round for lap in found)
    if not own:
        found = recorded.recorded().laps
    same = races.same_text(found)
    badge = "measured here" if own else "recorded"
    with st.container(key="main_picture", gap="xsmall"):
        st.markdown(f"##### {headline(found, same=same)} :blue-badge[{badge}]")
        prompt = live.text if own else recorded.COPYING
        two_texts(found, prompt, key="two_texts", plays=not own)
    if own:
        st.markdown(
            draft_rounds.same_words(
                same=same, greedy=live.settings.greedy, parts_at=races.parts_at(found)
            )
        )
    else:
        st.caption(_recorded_line())
    change_buttons(lambda: job.ask(races.RACE))
    _one_round(live, found, own=own)


def _one_round(live: Live, found: tuple[Lap, ...], *, own: bool) -> None:
    """Draw the rounds, and the chosen one with its numbers."""
    rounds = [lap.round for lap in found if lap.round]
    left, right = st.columns([1.2, 1], gap="medium")
    most = max(len(rounds), 2)
    with right:
        st.session_state["round"] = min(st.session_state.get("round", 1), len(rounds))
        number = st.slider("Round", 1, most, key="round", disabled=len(rounds) < 2)
        part = rounds[min(number, len(rounds)) - 1]
        st.markdown(draft_rounds.round_words(part))
        if own and part.residual:  # a recording's ids need not be those of the running model
            figure = draft_rounds.residual_bars(part, live.model.tokenizer.bytes_of, key="residual")
            chart(figure, key="residual", alt="What a rejected guess was redrawn from, as bars")
    with left:
        st.html(draft_rounds.rounds_html(rounds, selected=part.index))
        st.html(draft_rounds.legend())


def _recorded_line() -> str:
    """Say as Markdown what was recorded."""
    prompt = markdown(shorten(recorded.COPYING, 100))
    return (
        f"Recorded with {markdown(recorded.recorded().model)}; prompt: “{prompt}”, temperature "
        f"{recorded.SETTINGS.temperature:g}, draft: {recorded.KIND.lower()}, k = "
        f"{recorded.GUESSES}. This draft is no model: it looks where the last words stood before, "
        "and guesses what followed them there."
    )
