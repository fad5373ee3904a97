"""The overview's card of the pick: the bar, where u falls, and the same in a sentence."""

from __future__ import annotations

from typing import Any

from components.kit.numbers import percent
from components.overview.words import counted, piece
from engine.overview.facts import Overview, SamplingFact, Segment

Card = dict[str, Any]


def pick(overview: Overview) -> Card:
    """Return the card: the bar of what is left, and the token that was drawn."""
    sampling = overview.sampling
    drawn = piece(sampling.drawn.data)
    chance = percent(sampling.drawn.end - sampling.drawn.start)
    greedy = sampling.temperature == 0
    many = sampling.survivors
    fact = f"samples from {many:,}" if many > 1 else "one token is left"
    how = "temperature 0 takes the top" if greedy else f"u = {sampling.u:.3f} falls here"
    settings = "" if greedy else ", ".join((f"T = {sampling.temperature:g}", *sampling.steps))
    return {
        "title": "Pick",
        "fact": "takes the top" if greedy else fact,
        "note": settings,
        "u": None if greedy else round(sampling.u, 5),
        "how": how,
        "segments": [_segment(part, sampling.drawn) for part in _shown(sampling)],
        "drawn": drawn,
        "chance": chance,
        "at": [round(sampling.drawn.start, 5), round(sampling.drawn.end, 5)],
        "summary": _in_words(sampling, drawn, chance),
    }


def _in_words(sampling: SamplingFact, drawn: str, chance: str) -> str:
    """Say how the token came about, for those who don't see the bar."""
    if sampling.temperature == 0:
        return f"Sampling: temperature 0 takes the top token, {drawn}; nothing is left to chance."
    left = counted(sampling.survivors, "token")
    settings = ", ".join((f"temperature {sampling.temperature:g}", *sampling.steps))
    if sampling.survivors == 1:
        return f"Sampling with {settings} leaves {left}, {drawn}, so that is the one."
    return (
        f"Sampling with {settings} leaves {left}. The random number u = {sampling.u:.3f} falls on "
        f"{drawn}, which has probability {chance}."
    )


def _shown(sampling: SamplingFact) -> list[Segment]:
    """Return the stretches to draw, in the order of the bar; the drawn one is always among them."""
    others = [part for part in sampling.segments if part.id != sampling.drawn.id]
    return sorted([*others, sampling.drawn], key=lambda part: part.start)


def _segment(part: Segment, drawn: Segment) -> Card:
    return {
        "piece": piece(part.data),
        "start": round(part.start, 5),
        "end": round(part.end, 5),
        "drawn": part.id == drawn.id,
    }
