"""What the speculative decoding page measures: which draft pays, and which texts come out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from pages.frame.live import Live
from pages.speculative import races as drafting

if TYPE_CHECKING:
    from engine.speculative.law import TextLaw
    from engine.speculative.race import Pay

PAYS = "draft_pays"
COMPARING = "comparison_wanted"
TEXTS = "draft_texts"
COUNTING = "count_wanted"
MOST_GUESSES = 8
RUNS = 300


def pays(live: Live, budget: int) -> Mapping[str, tuple[Pay, ...]]:
    """Return what was measured on this prompt, for each draft with k = 1, 2 and so on."""
    request, found = st.session_state.get(PAYS, (None, {}))
    return found if request == (drafting.run_of(live), budget) else {}


def compare(live: Live, choices: Sequence[drafting.Choice]) -> Iterator[tuple[str, float]]:
    """Race each draft with k = 1 to 8; keep each result and yield (what runs, share of all)."""
    from engine.speculative.race import pay

    budget = choices[0].budget
    races = [replace(choice, k=k) for choice in choices for k in range(1, MOST_GUESSES + 1)]
    kept = dict(pays(live, budget))
    for choice in choices:
        kept.pop(choice.label, None)
    for number, choice in enumerate(races):
        done, laps = 0, []
        with contextlib.closing(drafting.racing(live, choice)) as racing:
            for lap in racing:
                laps.append(lap)
                done += len(lap.steps)
                share = (number + min(done / budget, 1.0)) / len(races)
                yield f"{choice.label}, k = {choice.k}", share
        result = pay(laps, choice.k)
        if result is not None:
            kept = {**kept, choice.label: (*kept.get(choice.label, ()), result)}
            st.session_state[PAYS] = ((drafting.run_of(live), budget), kept)


def texts(live: Live, choice: drafting.Choice) -> TextLaw | None:
    """Return the last count if it was of this draft on this prompt."""
    request, found = st.session_state.get(TEXTS, (None, None))
    return found if request == (drafting.run_of(live), choice.label) else None


def count(live: Live, choice: drafting.Choice) -> Iterator[TextLaw]:
    """Count the first tokens of many runs with this draft; keep and yield each state."""
    from engine.speculative.law import count_texts

    counting = count_texts(
        live.model,
        lambda: drafting.make(live, choice),
        live.ids,
        live.settings,
        runs=RUNS,
        seed=live.seed,
    )
    with contextlib.closing(counting):
        for found in counting:
            st.session_state[TEXTS] = ((drafting.run_of(live), choice.label), found)
            yield found
