"""Races of speculative against plain decoding, kept for this session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.shared.live import Live
from pages.shared.loading import allowed_sources, wait_for_model

if TYPE_CHECKING:
    from engine.draft_costs import Lap, Pay
    from engine.drafts import Draft

RACE = "draft_race"
PAYS = "draft_pays"
RACING = "race_wanted"
COMPARING = "comparison_wanted"
LOOKUP, EARLY_EXIT = "Prompt lookup", "Early exit"


@dataclass(frozen=True)
class Choice:
    """Which draft guesses how many tokens."""

    kind: str
    """`LOOKUP`, `EARLY_EXIT`, or the source of another model."""
    layers: int
    """Of an early exit."""
    k: int
    budget: int


def kinds(live: Live) -> list[str]:
    """Return the drafts that there are: other models count if the operator allows them."""
    others = [source for source in allowed_sources() if source != live.model.source]
    return [LOOKUP, EARLY_EXIT, *others]


def make(live: Live, choice: Choice) -> Draft:
    """Return a new draft for one run.

    Raises:
        EngineError: The other model has another vocabulary.
    """
    from engine.drafts import ModelDraft, PromptLookup
    from engine.early_exit import early_exit

    vocabulary = live.model.architecture.vocabulary
    if choice.kind == LOOKUP:
        return PromptLookup(vocabulary, live.model.stop_ids)
    if choice.kind == EARLY_EXIT:
        return ModelDraft(early_exit(live.model, choice.layers), vocabulary)
    return ModelDraft(wait_for_model(choice.kind), vocabulary)


def laps(live: Live, choice: Choice) -> tuple[Lap, ...]:
    """Return the last race if it was this one, else nothing."""
    request, found = st.session_state.get(RACE, (None, ()))
    return found if request == _request(live, choice) else ()


def last(live: Live) -> tuple[tuple[Lap, ...], int]:
    """Return the last race on this prompt, whatever its draft, and its k."""
    request, found = st.session_state.get(RACE, (None, ()))
    if request is None or request[:2] != (live.model.source, live.ids):
        return (), 0
    return found, request[-1]


def summed(found: tuple[Lap, ...], k: int) -> Pay | None:
    """Return what a race says about speed, if it is long enough."""
    from engine.draft_costs import pay

    return pay(found, k) if found else None


def same_text(found: tuple[Lap, ...]) -> bool:
    """Say whether both ways wrote the same tokens."""
    fast, slow = _texts(found)
    return fast == slow


def parts_at(found: tuple[Lap, ...]) -> int | None:
    """Return the first place where the two texts differ; None where one goes on the other."""
    pairs = zip(*_texts(found), strict=False)
    return next((place for place, (fast, slow) in enumerate(pairs) if fast != slow), None)


def _texts(found: tuple[Lap, ...]) -> tuple[list[int], list[int]]:
    fast = [token_id for lap in found if lap.round for token_id in lap.round.ids]
    return fast, [step.id for lap in found for step in lap.steps]


def run(live: Live, choice: Choice) -> Iterator[tuple[Lap, ...]]:
    """Race; keep each lap as it comes and yield all so far."""
    from engine.draft_costs import race

    found: tuple[Lap, ...] = ()
    racing = race(
        live.model,
        make(live, choice),
        live.ids,
        live.settings,
        k=choice.k,
        max_new_tokens=choice.budget,
        seed=live.seed,
    )
    with contextlib.closing(racing):
        for lap in racing:
            found += (lap,)
            st.session_state[RACE] = (_request(live, choice), found)
            yield found


def pays(live: Live, choice: Choice) -> tuple[Pay, ...]:
    """Return what was measured for k = 1, 2, … with this draft."""
    request, found = st.session_state.get(PAYS, (None, ()))
    return found if request == _request(live, choice)[:-1] else ()


def compare(live: Live, choice: Choice, most: int = 8) -> Iterator[tuple[int, float]]:
    """Race with k = 1 to `most`; keep each result and yield (k, share of that race)."""
    from engine.draft_costs import pay, race

    found: tuple[Pay, ...] = ()
    for k in range(1, most + 1):
        done = 0
        laps_of_k: list[Lap] = []
        racing = race(
            live.model,
            make(live, choice),
            live.ids,
            live.settings,
            k=k,
            max_new_tokens=choice.budget,
            seed=live.seed,
        )
        with contextlib.closing(racing):
            for lap in racing:
                laps_of_k.append(lap)
                done += len(lap.steps)
                yield k, min(done / choice.budget, 1.0)
        result = pay(laps_of_k, k)
        if result is not None:
            found += (result,)
            st.session_state[PAYS] = (_request(live, choice)[:-1], found)


def _request(live: Live, choice: Choice) -> tuple[Any, ...]:
    return (
        *(live.model.source, live.ids, live.settings, live.seed),
        *(choice.kind, choice.layers, choice.budget, choice.k),
    )
