"""The overview's question: which token does chance draw?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.guess import Guess, ranged
from components.kit.numbers import percent
from components.kit.text import quoted
from engine.basics.distribution import rank_of

if TYPE_CHECKING:
    from engine.overview.facts import Overview
    from pages.frame.live import Live


def ask(live: Live, extra: tuple[int, ...], facts: Overview) -> Guess:
    """Ask how far down the list the token stands that the seed draws next.

    Args:
        live: the prompt.
        extra: what was written after it.
        facts: of the picture.
    """
    drawn = facts.sampling.drawn
    rank = rank_of(live.trace(extra).logits, drawn.id)
    share = percent(drawn.end - drawn.start)
    kept = facts.sampling.survivors
    return ranged(
        "The model has scored every token. Now one is drawn with the seed at the left. Which place "
        "of the list does it come from?",
        rank,
        ((1.5, "the first"), (3.5, "second or third"), (10.5, "4 to 10"), (0, "further down")),
        f"{quoted(drawn.data)} is drawn, number {rank:,} of the list; with these settings it had "
        f"{share}, and {kept:,} could have come. Another seed draws another.",
    )
