"""Races of speculative against plain decoding, which draft pays, and which texts come out.

What is found is kept for this session.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from engine.speculative.drafts import DraftKind, PromptLookup
from pages.frame.kept import keep, kept
from pages.frame.kept import last as last_kept
from pages.frame.live import Live
from pages.frame.loading import allowed_sources, wait_for_model

if TYPE_CHECKING:
    from engine.speculative.distilled import DistilledParts
    from engine.speculative.drafts import Draft
    from engine.speculative.law import TextLaw
    from engine.speculative.race import Lap, Pay

RACE, COMPARE, COUNT = "race", "compare", "count_texts"
"""The three jobs."""
LAPS, PAYS, TEXTS = "draft_race", "draft_pays", "draft_texts"
"""What they leave in the session."""
MOST_GUESSES = 8
RUNS = 300


@dataclass(frozen=True)
class Choice:
    """Which draft guesses how many tokens."""

    kind: str
    """A `DraftKind`, or the source of another model."""
    layers: int
    """Of an early exit."""
    k: int
    budget: int

    @property
    def label(self) -> str:
        """What a legend calls the draft."""
        exit_layers = f"{DraftKind.EARLY_EXIT}, {self.layers} layers"
        return exit_layers if self.kind == DraftKind.EARLY_EXIT else self.kind


def kinds(live: Live) -> list[str]:
    """Return the drafts that there are for this model.

    The distilled one was trained for the default model; other models count if the operator allows
    them.
    """
    from engine.speculative.distilled import fits

    others = [source for source in allowed_sources() if source != live.model.source]
    own = [kind.value for kind in DraftKind if kind != DraftKind.DISTILLED or fits(live.model)]
    return [*own, *others]


def make(live: Live, choice: Choice) -> Draft:
    """Return a new draft for one run.

    Raises:
        EngineError: The other model has another vocabulary.
    """
    from engine.speculative.distilled import DistilledDraft
    from engine.speculative.early_exit import early_exit
    from engine.speculative.model_draft import ModelDraft, check_same_tokens

    vocabulary = live.model.architecture.vocabulary
    if choice.kind == DraftKind.LOOKUP:
        return PromptLookup(vocabulary, live.model.stop_ids)
    if choice.kind == DraftKind.EARLY_EXIT:
        return ModelDraft(early_exit(live.model, choice.layers), vocabulary)
    if choice.kind == DraftKind.DISTILLED:
        return DistilledDraft(live.model, _parts(live.model.source))
    other = wait_for_model(choice.kind)
    check_same_tokens(other, live.model)
    return ModelDraft(other, vocabulary)


@st.cache_resource(max_entries=1, show_spinner=False)
def _parts(source: str) -> DistilledParts:
    from engine.speculative.distilled import load_parts

    return load_parts(wait_for_model(source))


def laps(live: Live, choice: Choice) -> tuple[Lap, ...]:
    """Return the last race if it was this one, else nothing."""
    found: tuple[Lap, ...] = kept(LAPS, _request(live, choice), ())
    return found


def last(live: Live) -> tuple[tuple[Lap, ...], int]:
    """Return the last race on this prompt, whatever its draft, and its k."""
    request, found = last_kept(LAPS)
    if request is None or request[:2] != (live.model.source, live.ids):
        return (), 0
    return found, request[-1]


def summed(found: tuple[Lap, ...], k: int) -> Pay | None:
    """Return what a race says about speed, if it is long enough."""
    from engine.speculative.race import pay

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


def racing(live: Live, choice: Choice) -> Generator[Lap, None, None]:
    """Begin a race of a new draft against plain decoding on this prompt."""
    from engine.speculative.race import race

    return race(
        live.model,
        make(live, choice),
        live.ids,
        live.settings,
        k=choice.k,
        max_new_tokens=choice.budget,
        seed=live.seed,
    )


def run(live: Live, choice: Choice) -> Generator[tuple[Lap, ...], None, None]:
    """Race; keep each lap as it comes and yield all so far."""
    found: tuple[Lap, ...] = ()
    with contextlib.closing(racing(live, choice)) as laps_to_come:
        for lap in laps_to_come:
            found += (lap,)
            keep(LAPS, _request(live, choice), found)
            yield found


def pays(live: Live, budget: int) -> Mapping[str, tuple[Pay, ...]]:
    """Return what was measured on this prompt, for each draft with k = 1, 2 and so on."""
    found: Mapping[str, tuple[Pay, ...]] = kept(PAYS, (run_of(live), budget), {})
    return found


def compare(live: Live, choices: Sequence[Choice]) -> Generator[tuple[str, float], None, None]:
    """Race each draft with k = 1 to 8; keep each result and yield (what runs, share of all)."""
    from engine.speculative.race import pay

    budget = choices[0].budget
    races = [replace(choice, k=k) for choice in choices for k in range(1, MOST_GUESSES + 1)]
    found = dict(pays(live, budget))
    for choice in choices:
        found.pop(choice.label, None)
    for number, choice in enumerate(races):
        done, ran = 0, []
        with contextlib.closing(racing(live, choice)) as laps_to_come:
            for lap in laps_to_come:
                ran.append(lap)
                done += len(lap.steps)
                share = (number + min(done / budget, 1.0)) / len(races)
                yield f"{choice.label}, k = {choice.k}", share
        result = pay(ran, choice.k)
        if result is not None:
            found = {**found, choice.label: (*found.get(choice.label, ()), result)}
            keep(PAYS, (run_of(live), budget), found)


def texts(live: Live, choice: Choice) -> TextLaw | None:
    """Return the last count if it was of this draft on this prompt."""
    found: TextLaw | None = kept(TEXTS, (run_of(live), choice.label))
    return found


def count(live: Live, choice: Choice) -> Generator[TextLaw, None, None]:
    """Count the first tokens of many runs with this draft; keep and yield each state."""
    from engine.speculative.law import count_texts

    counting = count_texts(
        live.model,
        lambda: make(live, choice),
        live.ids,
        live.settings,
        runs=RUNS,
        seed=live.seed,
    )
    with contextlib.closing(counting):
        for found in counting:
            keep(TEXTS, (run_of(live), choice.label), found)
            yield found


def run_of(live: Live) -> tuple[Any, ...]:
    """Return what every run on this prompt depends on, whatever its draft."""
    return live.model.source, live.ids, live.settings, live.seed


def _request(live: Live, choice: Choice) -> tuple[Any, ...]:
    return *run_of(live), choice.kind, choice.layers, choice.budget, choice.k
