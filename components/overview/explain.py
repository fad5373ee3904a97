"""What everything on the overview picture means, in short plain texts, with this run's numbers.

The browser shows each on hover and on keyboard focus. A text is a pair: what the thing is called,
and what it means.
"""

from __future__ import annotations

from collections.abc import Mapping

from components.kit.numbers import percent
from components.kit.text import visible
from engine.overview.facts import Overview

Texts = Mapping[str, tuple[str, str]]

LEGEND: tuple[tuple[str, str], ...] = (
    ("·", "a space"),
    ("⏎", "a line break"),
    ("⇥", "a tab"),
    ("⟨F0 9F⟩", "bytes of an unfinished character"),
    ("⊕", "added to the vector"),
)
"""The signs that stand in the picture and in the text under it."""


def texts(overview: Overview) -> Mapping[str, Texts]:
    """Return the texts by card and by the thing on it."""
    return {
        "tokens": _tokens(overview),
        "vectors": _vectors(overview),
        "attention": _attention(overview),
        "feed_forward": _feed_forward(overview),
        "block": _block(overview),
        "scores": _scores(overview),
        "pick": _pick(overview),
        "detokenizer": _detokenizer(),
    }


def mattering(overview: Overview) -> str:
    """Say in words what becomes of the most probable token without the head that is shown."""
    removal = overview.head.removal
    name = visible(bytes.fromhex(removal.data), limit=12)
    before, after = percent(removal.before), percent(removal.after)
    verdict = "it matters" if matters(overview) else "looking is not mattering"
    return f"without it {name} {before} → {after}: {verdict}"


def matters(overview: Overview) -> bool:
    """Return whether the most probable token loses at least a tenth without the shown head."""
    removal = overview.head.removal
    return removal.after <= 0.9 * removal.before


def _tokens(overview: Overview) -> Texts:
    vocabulary = f"{overview.architecture.vocabulary:,}"
    return {
        "rows": (
            "Pieces and ids",
            f"Each piece is one token. The number beside it is its id: its place in a fixed list "
            f"of {vocabulary} pieces. The sign · is a space, which belongs to the piece.",
        ),
    }


def _vectors(overview: Overview) -> Texts:
    shape = overview.architecture
    last = visible(bytes.fromhex(overview.tokens[-1].data), limit=12)
    ways = {
        "rope": "Order comes in by turning: in every query and key, pairs of numbers are turned by "
        "an angle that grows with the token’s place (rotary position, RoPE).",
        "learned": "Order comes in by adding a learned vector for the token’s place.",
    }
    return {
        "cells": (
            "Numbers of a vector",
            f"The first {len(overview.embedding.values)} of the {shape.width:,} numbers that stand "
            f"for {last}. Blue is above 0, orange below; the stronger, the farther from 0. They "
            "were learned in training.",
        ),
        "order": (
            "Position",
            ways.get(shape.positions, "This model is told nothing about the order of the tokens."),
        ),
        "dials": (
            "Turned pairs",
            "Each dial is one pair of numbers and the angle by which it is turned for this token. "
            "Pairs on the left turn fast, those on the right slowly.",
        ),
    }


def _attention(overview: Overview) -> Texts:
    shape, head, removal = overview.architecture, overview.head, overview.head.removal
    name = visible(bytes.fromhex(removal.data), limit=12)
    tokens = f"the last {len(head.pattern)} tokens" if head.first else "the tokens"
    return {
        "pattern": (
            "Who looks at whom",
            f"Rows are {tokens}, columns the tokens they look at: the darker, the more. Above the "
            "diagonal there is nothing: no token sees what comes after it.",
        ),
        "head": (
            "The head shown",
            f"One of {shape.layers * shape.heads:,} heads. The few that push {name} up most were "
            f"taken away one by one; without this one {name} falls lowest: from "
            f"{percent(removal.before)} to {percent(removal.after)}. How strongly a head looks "
            "says little about how much it matters.",
        ),
        "cache": (
            "K and V, the KV cache",
            "Each token leaves a key (K: what others compare with to find it) and a value (V: what "
            "they take over from it) in every layer. They are kept, so that a further token goes "
            "through alone. Pale: kept from before.",
        ),
    }


def _feed_forward(overview: Overview) -> Texts:
    shape = overview.architecture
    first, last = overview.residual_norms[0], overview.residual_norms[-1]
    return {
        "norms": (
            "Length of the vector",
            f"How long the last token’s vector is before the first layer ({first:,.0f}) and after "
            f"each of the {shape.layers} ({last:,.0f} at the end), on a log scale. It grows "
            "because parts keep adding to it. The scores hardly depend on the length: a last norm "
            "evens it out.",
        ),
    }


def _block(overview: Overview) -> Texts:
    layers = overview.architecture.layers
    return {
        "note": (
            "Norm and ⊕",
            "Before each part a copy of the vector is brought to a usual length (norm, before the "
            "part). What the part makes of it is added (⊕) to the vector itself, which runs "
            f"through all {layers} layers (the residual stream).",
        ),
        "phase": (
            "Prefill and decode",
            "Prefill: all tokens of the prompt go through in one pass, side by side. Decode: from "
            "then on each new token goes through alone and uses the keys and values that were "
            "kept. The numbers are the same either way.",
        ),
        "lens": (
            "Read early (logit lens)",
            "The last token’s vector after so many layers, read as if it were finished. The model "
            f"itself reads it only after all {layers}.",
        ),
    }


def _scores(overview: Overview) -> Texts:
    return {
        "bars": (
            "The five best scores",
            f"All {overview.architecture.vocabulary:,} tokens get a score (logit). These five have "
            "the highest, as probabilities of the model’s own, before any setting. Orange: the "
            "token that is drawn.",
        ),
    }


def _pick(overview: Overview) -> Texts:
    greedy = overview.sampling.temperature == 0
    stretches = "Each token that the settings leave has a stretch as long as its probability."
    chance = "u is one random number between 0 and 1, from the seed. The token at u is drawn."
    return {
        "draw": (
            "The draw",
            f"{stretches} At temperature 0 the longest is taken."
            if greedy
            else f"{stretches} {chance}",
        ),
        "note": (
            "Settings",
            "T is the temperature: below 1 likely tokens become likelier still, above 1 unlikely "
            "ones get more of a chance. Top-p, top-k and min-p cut the list’s end off.",
        ),
    }


def _detokenizer() -> Texts:
    return {
        "bytes": (
            "Bytes of the token",
            "A token is a few bytes, written here as hexadecimal digits. Strung together, the "
            "bytes are text again.",
        ),
    }
