"""The draw as a line from 0 to 1: every token has its probability as a length, u points at one.

The tokens stand in the order of their ids, as `engine.sampling.chain.draw` goes through them. Those
too small to see are joined into one grey piece each, between their larger neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from components.kit.arrays import Array
from components.kit.browser import component
from components.kit.numbers import percent
from components.sampling.step_bars import COLOURS
from engine.basics.distribution import largest

SHOWN = 24
"""Tokens with a piece of their own."""

_COMPONENT = component("sampling/cumulative_bar", '<div class="line"></div>', colours=COLOURS)


def cumulative_bar(
    probabilities: Array, u: float, picked: int, name_of: Callable[[int], str], *, key: str
) -> None:
    """Draw the line with u on it.

    Args:
        probabilities: `[V]`, what is drawn from.
        u: the random number in [0, 1).
        picked: the token whose piece holds u.
        name_of: gives a token's visible text.
        key: unique on the page.
    """
    name = name_of(picked)
    pieces = segments(probabilities, picked, name_of)
    count = int(np.count_nonzero(probabilities))
    tokens = "1 token" if count == 1 else f"{count:,} tokens in the order of their ids"
    _COMPONENT(
        key=key,
        data={
            "segments": pieces,
            "u": u,
            "flag": f"u = {u:.4f} → {name}",
            "caption": tokens,
            "alt": f"u = {u:.4f} falls into the piece of {name}, which is "
            f"{percent(float(probabilities[picked]))} long.",
        },
    )


def segments(
    probabilities: Array, picked: int, name_of: Callable[[int], str]
) -> list[dict[str, Any]]:
    """Return the pieces from left to right, which fill 0 to 1."""
    weights = np.asarray(probabilities, dtype=np.float64)
    ends = np.cumsum(weights)
    ends /= ends[-1]
    own = set(largest(probabilities, SHOWN).tolist()) | {picked}
    pieces: list[dict[str, Any]] = []
    at = 0.0
    for token_id in sorted(own):
        if weights[token_id] <= 0:
            continue
        start = float(ends[token_id - 1]) if token_id else 0.0
        if start - at > 1e-6:
            pieces.append(_rest(at, start))
        at = float(ends[token_id])
        label = name_of(token_id)
        pieces.append(
            {
                "start": start,
                "end": at,
                "label": label,
                "picked": token_id == picked,
                "rest": False,
                "hover": f"{label}  id {token_id}: {start:.4f} to {at:.4f}",
            }
        )
    if 1.0 - at > 1e-6:
        pieces.append(_rest(at, 1.0))
    return pieces


def _rest(start: float, end: float) -> dict[str, Any]:
    return {
        "start": start,
        "end": end,
        "label": "…",
        "picked": False,
        "rest": True,
        "hover": f"other tokens: {percent(end - start)} together",
    }
