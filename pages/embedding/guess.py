"""The embedding page's question: whose row lies nearest?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.guess import Guess, named
from components.kit.text import quoted
from pages.embedding import views

if TYPE_CHECKING:
    from pages.frame.live import Live

CANDIDATES = 40
"""How many of the nearest rows the options are taken from."""


def ask(live: Live) -> Guess | None:
    """Ask which token's row is the most like that of one of the prompt's tokens."""
    from engine.embedding import table

    bytes_of = live.model.tokenizer.bytes_of
    token = live.ids[views.telling(live.model.source, live.ids)]
    near = table.nearest(live.model, token, CANDIDATES)
    names = [quoted(bytes_of(int(i)), limit=20) for i in near.ids]
    return named(
        f"Every token has a row of learned numbers. Whose row is the most like that of "
        f"{quoted(bytes_of(token), limit=20)}?",
        names[0],
        (names[len(names) // 8], names[len(names) // 3], names[-1], *names),
        f"Their cosine is {float(near.cosines[0]):.2f} (1 would be the same direction); that of "
        f"{names[-1]}, number {len(names)} of the list, is {float(near.cosines[-1]):.2f}. Rows lie "
        "near each other when tokens were used alike in training.",
    )
