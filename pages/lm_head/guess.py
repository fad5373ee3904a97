"""The LM head's question: how many tokens share half of the probability?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.guess import Guess, ranged
from components.kit.text import counted
from engine.basics.distribution import mass_by_rank, tokens_for_mass
from pages.frame import results

if TYPE_CHECKING:
    from pages.frame.live import Live


def ask(live: Live) -> Guess:
    """Ask how many of the likeliest tokens together hold half of the probability."""
    scores = results.scores(live.model.source, live.ids)
    half, most = (
        tokens_for_mass(mass_by_rank(scores.probabilities), share) for share in (0.5, 0.9)
    )
    return ranged(
        f"All {len(scores.logits):,} tokens of the vocabulary get a share. How many of the "
        "likeliest hold half of it together?",
        half,
        ((1.5, "1"), (5.5, "2 to 5"), (50.5, "6 to 50"), (0, "more than 50")),
        f"{counted(half, 'token')} have half of it, {most:,} have 90 %. A few lead, and a very "
        "long tail shares the rest.",
    )
