"""Attention of one token as arcs over the text: which tokens it reads, and which read it.

The second view of a head. Tokens are real buttons: click, Enter or the arrow keys choose one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from components.kit import theme
from components.kit.arrays import Array
from components.kit.browser import checked_index, component
from components.kit.numbers import percent
from components.kit.text import visible

_COMPONENT = component("attention/arcs", '<div class="arcs"></div>')

PIECE = 16
"""The most signs of a token on its button."""


def arcs(
    pieces: Sequence[str | bytes],
    pattern: Array,
    *,
    selected: int,
    key: str,
    label: str,
    on_select: Callable[[int], None],
) -> None:
    """Draw what one token reads (above the line) and who reads it (below).

    Args:
        pieces: the tokens, raw; made visible here.
        pattern: one head's shares `[T, S]`; NaN counts as 0.
        selected: the chosen token.
        key: unique on the page.
        label: what is seen, for screen readers.
        on_select: called with a token's index, before the page's script runs again.
    """

    def picked() -> None:
        index = checked_index(st.session_state[key].get("picked"), len(pieces))
        if index is not None:
            on_select(index)

    reads, read_by = shares_around(pattern, selected)
    _COMPONENT(
        key=key,
        data={
            "tokens": [visible(piece, limit=PIECE) for piece in pieces],
            "reads": reads,
            "read_by": read_by,
            "written": written(pattern, selected),
            "selected": selected,
            "label": label,
            "colours": [theme.QUERY, theme.KEY],
        },
        on_picked_change=picked,
    )


def written(pattern: Array, selected: int) -> list[str]:
    """Return the share at each token: what is read from it, or, after the chosen one, it reads."""
    known = np.nan_to_num(np.asarray(pattern, dtype=np.float64))
    earlier = np.arange(len(known)) <= selected
    return [percent(float(x)) for x in np.where(earlier, known[selected], known[:, selected])]


def shares_around(pattern: Array, selected: int) -> tuple[list[float], list[float]]:
    """Return what a token reads from each token, and what each later token reads from it."""
    known = np.nan_to_num(np.asarray(pattern, dtype=np.float64))
    reads = np.where(np.arange(len(known)) <= selected, known[selected], 0.0)
    read_by = np.where(np.arange(len(known)) > selected, known[:, selected], 0.0)
    return [round(float(x), 4) for x in reads], [round(float(x), 4) for x in read_by]
