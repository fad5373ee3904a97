"""Words on models: which numbers RoPE turns together, what scores are divided by, usual sizes.

The first two differ between families, so no text says either of them by heart.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.embedding.rope import Pairing

VOCABULARIES = "32,000 to 260,000"
"""Tokens in the vocabularies of today's models: from Llama 2 to Gemma 3."""


def pair_words(pairing: Pairing | None, pairs: int) -> str:
    """Say which numbers are turned together, such as “i and i + 32”; "" where it is not known."""
    if pairing is None:
        return ""
    return f"i and i + {pairs}" if pairing == "halves" else "2i and 2i + 1"


def pair_members(pairing: Pairing, pairs: int, pair: int) -> tuple[int, int]:
    """Return the numbers of a query or key that are one pair."""
    return (pair, pair + pairs) if pairing == "halves" else (2 * pair, 2 * pair + 1)


def pair_latex(pairing: Pairing | None, pairs: int) -> tuple[str, str]:
    """Return the indices of the two numbers of pair i, for LaTeX."""
    if pairing is None:
        return "i,1", "i,2"
    return ("i", f"i+{pairs}") if pairing == "halves" else ("2i", "2i+1")


def is_usual(scale: float, size: int) -> bool:
    """Tell whether scores are divided by √K."""
    return math.isclose(scale, size**-0.5, rel_tol=1e-4)


def scale_words(scale: float, size: int) -> str:
    """Say in a sentence what the sums q·k of `size` products are divided by."""
    divisor = f"√{_number(1 / scale**2)} = {_number(1 / scale)}"
    grows = f"The typical size of a sum of K = {size} random products grows like √K"
    if is_usual(scale, size):
        return f"{grows}, so the sums are divided by √K = {divisor}."
    if math.isclose(scale, 1.0):
        return f"{grows}. Most models divide the sums by √K; this model does not."
    return f"{grows}. Most models divide the sums by √K; this model divides them by {divisor}."


def divisor_latex(scale: float, size: int) -> str:
    """Return what the sums are divided by, for LaTeX."""
    return r"\sqrt{K}" if is_usual(scale, size) else rf"\sqrt{{{_number(1 / scale**2)}}}"


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isclose(value, round(value), rel_tol=1e-5) else f"{value:.4g}"
