"""The words and numbers of the overview picture: what each card says about this prompt.

Everything that a browser draws is made here, as plain strings and numbers, so that one place
decides how text is made visible and how a number is rounded, and tests can read it. The browser
only lays it out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from components.kit.numbers import percent, size
from components.kit.text import counted, excerpt, readable, visible
from components.overview import explain, walk
from engine.overview.facts import Overview, SamplingFact, Segment, TokenFact, TurnFact

Card = dict[str, Any]

TOKEN_ROWS = 10
WRITTEN_LIMIT = 60
TURN_LIMIT = 90
LANES = 5
"""Most arrows side by side that stand for tokens in one pass."""
PIECE_LIMIT = 14

GUARDS: Mapping[str, tuple[str, ...]] = {
    "text": ("system turn", "before tokenizer"),
    "scores": ("logits",),
    "pick": ("sampler",),
    "detokenizer": ("text written",),
}
"""Where a guardrail could stand, by card. These are places, not guards that run."""


def cards(overview: Overview) -> dict[str, Card]:
    """Return every card of the picture, by name, ready to be drawn."""
    made = {
        "text": _text(overview),
        "tokens": _tokens(overview),
        "vectors": _vectors(overview),
        "block": _block(overview),
        "attention": _attention(overview),
        "feed_forward": _feed_forward(overview),
        "scores": _scores(overview),
        "pick": _pick(overview),
        "detokenizer": _detokenizer(overview),
        "speculative": _speculative(),
    }
    for name, texts in explain.texts(overview).items():
        made[name]["explain"] = dict(texts)
    return made


def _text(overview: Overview) -> Card:
    length = len(overview.text) + len(overview.generated)
    room = WRITTEN_LIMIT
    written = overview.generated
    written = (
        f" … {readable(written[-room:]).lstrip()}" if len(written) > room else readable(written)
    )
    return {
        "title": "Text",
        "fact": counted(length, "character"),
        "prompt": excerpt(overview.text),
        "written": written,
        "turns": [_turn(turn) for turn in overview.turns],
        "summary": f"The text so far: “{excerpt(overview.text)}{written}”.",
    }


def _turn(turn: TurnFact) -> Card:
    """Return one turn of a chat, for people: who speaks, and the words."""
    names = {"system": "system (nobody typed this)", "user": "you", "assistant": "the model"}
    return {
        "who": names.get(turn.role, turn.role or "chat"),
        "words": excerpt(turn.text, TURN_LIMIT) or "…",
        "own": turn.role in ("assistant", "model"),
    }


def _tokens(overview: Overview) -> Card:
    count = len(overview.tokens)
    rows: list[Card] = []
    for index in _first_and_last(count, TOKEN_ROWS):
        if index is None:
            rows.append({"gap": f"{count - TOKEN_ROWS + 1:,} more"})
        else:
            rows.append(_token_row(overview.tokens[index], index >= overview.prompt_tokens))
    ids = ", ".join(f"{row['piece']} is {row['id']}" for row in rows if "id" in row)
    return {
        "title": "Word pieces",
        "fact": counted(count, "token"),
        "note": f"each has its id, one of {overview.architecture.vocabulary:,}",
        "decodes": walk.decodes(overview),
        "rows": rows,
        "summary": f"The text is cut into {counted(count, 'token')}, each with a fixed number "
        f"(id): {ids}.",
    }


def _token_row(token: TokenFact, written: bool) -> Card:
    return {
        "piece": piece(token.data),
        "id": token.id,
        "special": token.special,
        "written": written,
    }


def _first_and_last(count: int, rows: int) -> list[int | None]:
    """Return the indices that fit into so many rows, None where the rest is left out."""
    if count <= rows:
        return list(range(count))
    first = 3
    return [*range(first), None, *range(count - (rows - first - 1), count)]


def _vectors(overview: Overview) -> Card:
    embedding, position = overview.embedding, overview.position
    last = piece(overview.tokens[-1].data, 6)
    scale = embedding.scale or 1.0
    if overview.architecture.positions == "rope":
        order = f"token {position.position + 1}: pairs turned by"
    elif overview.architecture.positions == "learned":
        order = f"+ the vector of place {position.position + 1}"
    else:
        order = "no position is added"
    width = f"{overview.architecture.width:,}"
    return {
        "title": "Vectors",
        "fact": f"{width} numbers each",
        "last": last,
        "note": f"first {len(embedding.values)}",
        "cells": [round(value / scale, 3) for value in embedding.values],
        "order": order,
        "rope": overview.architecture.positions == "rope",
        "dials": [
            {"angle": angle, "label": f"{math.degrees(angle):.0f}°"} for angle in position.angles
        ],
        "summary": (
            f"Each id picks a row of {width} learned numbers (the embedding). The last token "
            f"{last} is token {position.position + 1}."
        ),
    }


def _block(overview: Overview) -> Card:
    layers = overview.architecture.layers
    return {
        "title": f"Block × {layers}",
        "fact": "each part reads a tidied copy, then adds (⊕)",
        "phase": walk.phase(overview),
        "lanes": 1 if walk.decodes(overview) else min(len(overview.tokens), LANES),
        "lens_title": "Stopped after … layers it would say",
        "lens": [
            {
                "layers": reading.layers,
                "piece": piece(reading.data),
                "percent": percent(reading.probability),
                "share": round(reading.probability, 4),
            }
            for reading in overview.lens
        ],
    }


def _attention(overview: Overview) -> Card:
    head, architecture = overview.head, overview.architecture
    habit = _habit(head.offset)
    reader = piece(overview.tokens[-1].data, 8)
    read = piece(overview.tokens[head.reads].data, 8)
    reading = f"{reader} reads {read} {percent(head.weight)}"
    kept = f"{overview.cache.rows - 1:,} kept + 1 new, " if walk.decodes(overview) else ""
    cache = f"{kept or counted(overview.cache.rows, 'row') + ', '}{size(overview.cache.bytes)}"
    removal = explain.mattering(overview)
    return {
        "title": "Attention",
        "fact": f"{architecture.heads} heads",
        "head": f"Layer {head.layer}, head {head.head}{habit}",
        "reader": reader,
        "read": read,
        "weight": percent(head.weight),
        "removal": removal,
        "pattern": [[round(weight, 3) for weight in row] for row in head.pattern],
        "cache": f"KV cache: {cache}",
        "cache_rows": min(overview.cache.rows, 12),
        "cache_new": 1 if walk.decodes(overview) else min(overview.cache.rows, 12),
        "summary": (
            f"{architecture.heads} heads in each layer read earlier tokens. "
            f"Layer {head.layer}, head {head.head}{habit}: {reading}; {removal}. "
            f"Keys and values are kept in the KV cache: {cache}."
        ),
    }


def _habit(offset: int | None) -> str:
    """Say in words how far back a head looks."""
    if offset is None:
        return ""
    if offset == 0:
        return " reads the token itself"
    return " looks one token back" if offset == 1 else f" looks {offset} tokens back"


def _feed_forward(overview: Overview) -> Card:
    architecture = overview.architecture
    shape = f"{architecture.width:,} → {architecture.ff_width:,} → {architecture.width:,}"
    first, last = overview.residual_norms[0], overview.residual_norms[-1]
    lens = "; ".join(
        f"after {reading.layers} layers {piece(reading.data)} {percent(reading.probability)}"
        for reading in overview.lens
    )
    return {
        "title": "Feed-forward",
        "fact": shape,
        "note": f"vector length {first:,.0f} → {last:,.0f}",
        "heights": _log_heights(overview.residual_norms),
        "summary": (
            f"The feed-forward network works on each token alone, {shape} numbers. Attention and "
            f"feed-forward add to the residual stream. If the model stopped early it would say: "
            f"{lens}."
        ),
    }


def _log_heights(norms: Sequence[float]) -> list[float]:
    """Scale vector lengths to 0 … 1 on a logarithmic scale: they grow by a factor of hundreds."""
    logs = [math.log10(max(norm, 1e-6)) for norm in norms]
    low, high = min(logs), max(logs)
    return [round((value - low) / ((high - low) or 1.0), 3) for value in logs]


def _scores(overview: Overview) -> Card:
    best = overview.candidates[0].probability or 1.0
    bars = [
        {
            "piece": piece(candidate.data),
            "percent": percent(candidate.probability),
            "share": round(candidate.probability / best, 4),
            "drawn": candidate.id == overview.sampling.drawn.id,
        }
        for candidate in overview.candidates
    ]
    top = ", ".join(f"{bar['piece']} {bar['percent']}" for bar in bars)
    count = f"{overview.architecture.vocabulary:,}"
    return {
        "title": "Scores",
        "fact": f"{count} logits",
        "note": "the LM head’s top 5, as probabilities",
        "bars": bars,
        "summary": f"The LM head scores all {count} tokens. Most probable: {top}.",
    }


def _pick(overview: Overview) -> Card:
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
        "segments": [_stretch(part, sampling.drawn) for part in _stretches(sampling)],
        "drawn": drawn,
        "chance": chance,
        "at": [round(sampling.drawn.start, 5), round(sampling.drawn.end, 5)],
        "summary": _pick_in_words(sampling, drawn, chance),
    }


def _pick_in_words(sampling: SamplingFact, drawn: str, chance: str) -> str:
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


def _stretches(sampling: SamplingFact) -> list[Segment]:
    """Return the stretches to draw, in the order of the bar; the drawn one is always among them."""
    others = [part for part in sampling.segments if part.id != sampling.drawn.id]
    return sorted([*others, sampling.drawn], key=lambda part: part.start)


def _stretch(part: Segment, drawn: Segment) -> Card:
    return {
        "piece": piece(part.data),
        "start": round(part.start, 5),
        "end": round(part.end, 5),
        "drawn": part.id == drawn.id,
    }


def _detokenizer(overview: Overview) -> Card:
    fact = overview.detokenizer
    count = len(bytes.fromhex(fact.data))
    hexes = bytes.fromhex(fact.data).hex(" ").upper()
    shown = hexes if count <= 8 else hexes[:20] + " …"
    if fact.ends:
        outcome = "an end token: the run stops"
    elif fact.released:
        outcome = f"becomes “{visible(fact.released)}”"
    else:
        outcome = "waits for the rest of the character"
    return {
        "title": "Back to text",
        "fact": "detokenizer",
        "bytes": shown,
        "outcome": outcome,
        "loop": "append, and once more",
        "summary": f"The drawn token is {counted(count, 'byte')} and {outcome}. Then it all runs "
        "once more.",
    }


def _speculative() -> Card:
    return {
        "title": "Speculative decoding",
        "fact": "optional, not running",
        "note": "a small draft guesses several tokens, one pass checks them",
        "summary": (
            "Speculative decoding would be a shortcut here: a small draft model guesses several "
            "tokens and one pass checks them. It is optional and not running."
        ),
    }


def piece(data: str, limit: int = PIECE_LIMIT) -> str:
    """Return one token's bytes (as hexadecimal digits) as visible text of at most `limit` signs."""
    return visible(bytes.fromhex(data), limit=limit)
