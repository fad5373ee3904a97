"""What could have been next: the likeliest tokens before and after the sampling settings.

Each row shows both probabilities, as bars and as numbers, and a button that takes that token
instead of the one that was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.browser import component
from components.kit.numbers import percent
from components.kit.text import visible
from components.kit.theme import ACCENT, CUT, PICKED

if TYPE_CHECKING:
    from engine.generation.token_step import TokenStep

_COMPONENT = component("generation/alternatives", '<div class="alternatives"></div>')


def alternatives(
    step: TokenStep,
    data_of: Callable[[int], bytes],
    *,
    key: str,
    on_take: Callable[[int], None],
    taken: Sequence[int] = (),
) -> None:
    """Draw the rows.

    Args:
        step: the token that was written.
        data_of: bytes of an id.
        key: unique on the page.
        on_take: called with an id when its button is pressed.
        taken: ids for which there is a branch already.
    """
    ids = [other.id for other in step.alternatives]

    def took() -> None:
        number = st.session_state[key].get("take")
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(ids):
            on_take(ids[number])

    _COMPONENT(
        key=key,
        data={
            "rows": [
                {
                    "t": visible(data_of(other.id), limit=16),
                    "i": other.id,
                    "raw": round(other.raw, 5),
                    "final": round(other.final, 5),
                    "raw_text": percent(other.raw),
                    "final_text": percent(other.final) if other.final > 0 else "cut",
                    "drawn": other.id == step.id,
                    "taken": other.id in taken,
                }
                for other in step.alternatives
            ],
            "colours": {"raw": CUT, "final": ACCENT, "drawn": PICKED},
        },
        on_take_change=took,
    )


def headline(step: TokenStep) -> str:
    """Return the two probabilities of the token in a sentence of plain text."""
    raw, final = percent(step.raw_probability), percent(step.probability)
    if step.forced:
        return f"You took this one. The model gave it {raw}; after the settings it had {final}."
    if step.probability == 1:
        return f"The model gave it {raw}; the settings left nothing else, so it was certain."
    return (
        f"The model gave it {raw}; after the settings it had {final}, and u = {step.u:.3f} drew it."
    )
