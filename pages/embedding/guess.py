"""The embedding page's question: whose row lies nearest?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.guess import Guess, named
from components.kit.text import quoted
from pages.embedding import views
from pages.frame import results

if TYPE_CHECKING:
    from pages.frame.live import Live


def ask(live: Live) -> Guess | None:
    """Ask which token's row is the most like that of one of the prompt's tokens."""
    from engine.embedding import table

    bytes_of = live.model.tokenizer.bytes_of
    token = live.ids[views.telling(live.model.source, live.ids)]
    near = table.nearest(live.model, token, 2)
    names = [quoted(bytes_of(int(i)), limit=20) for i in near.ids]
    # Further options are words of this text and what may follow it, not rows that lie near too.
    best, _ = results.top_tokens(live.model.source, live.ids)
    others = [i for i in (*live.ids[::-1], *best) if i not in (token, int(near.ids[1]))]
    return named(
        "Every token has a row of learned numbers. Whose row is the most like that of "
        f"{quoted(bytes_of(token), limit=20)}?",
        names[0],
        [quoted(bytes_of(i), limit=20) for i in others],
        f"Their cosine is {float(near.cosines[0]):.2f} (1 would be the same direction); second is "
        f"{names[-1]} with {float(near.cosines[-1]):.2f}. Rows lie near each other when tokens "
        "were used alike in training.",
    )
