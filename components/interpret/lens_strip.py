"""What the model would say after every layer, for one token: a row of chips, tinted by the answer.

The same as a column of the logit lens, as words that can be read: each chip is the likeliest token
at that layer, and its colour is the probability that the final answer has there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from components.kit import theme
from components.kit.browser import checked_index, component
from components.kit.numbers import percent
from components.kit.text import quoted, visible

if TYPE_CHECKING:
    from engine.interpret.lens import LensGrid, TokenPath

_COMPONENT = component("interpret/lens_strip", '<div class="readings"></div>')


def lens_strip(
    grid: LensGrid,
    column: int,
    path: TokenPath,
    bytes_of: Callable[[int], bytes],
    *,
    selected: int,
    key: str,
    on_select: Callable[[int], None],
) -> None:
    """Draw one token's readings; a click reports after how many layers.

    Args:
        grid: the readings.
        column: the token's column in it.
        path: of the token that is followed, the answer.
        bytes_of: gives a token's bytes.
        selected: after how many layers, framed.
        key: unique on the page.
        on_select: called before the page's script runs again.
    """

    def picked() -> None:
        index = checked_index(st.session_state[key].get("picked"), len(grid.ids))
        if index is not None:
            on_select(index)

    answer = quoted(bytes_of(path.token_id))
    _COMPONENT(
        key=key,
        data={
            "cells": cells(grid, column, path, bytes_of),
            "selected": selected,
            "colour": theme.ACCENT,
            "picked": theme.PICKED,
            "caption": f"What the model would say after 0, 1, 2 … layers. The bluer, the more "
            f"probable {answer} is there; framed where it leads.",
            "label": "The likeliest token after every layer",
        },
        on_picked_change=picked,
    )


def cells(
    grid: LensGrid, column: int, path: TokenPath, bytes_of: Callable[[int], bytes]
) -> list[dict[str, Any]]:
    """Return the chips in plain values.

    The tint is the square root of the answer's probability as a share of its largest: small
    probabilities of middle layers are still seen to grow.
    """
    most = max(float(path.probabilities.max()), 1e-12)
    tints = np.sqrt(np.asarray(path.probabilities) / most)
    answer = quoted(bytes_of(path.token_id))
    found = []
    for layers, tint in enumerate(tints):
        token = int(grid.ids[layers, column])
        word, share = bytes_of(token), percent(float(grid.probabilities[layers, column]))
        own = percent(float(path.probabilities[layers]))
        found.append(
            {
                "word": visible(word, limit=9),
                "answer": token == path.token_id,
                "tint": round(float(tint), 3),
                "says": f"after {layers} layers: {quoted(word)} leads with {share}; {answer} has "
                f"{own}, rank {int(path.ranks[layers]):,}",
            }
        )
    return found
