"""The generation page's question: how near is the end?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.guess import Guess, ranged
from components.kit.numbers import percent
from components.kit.text import quoted
from engine.basics.distribution import softmax

if TYPE_CHECKING:
    from pages.frame.live import Live


def ask(live: Live) -> Guess | None:
    """Ask how probable it is that the answer ends before its first word."""
    stops = sorted(live.model.stop_ids)
    if not stops:
        return None
    shares = softmax(live.trace().logits)
    share = float(shares[stops].sum())
    names = ", ".join(quoted(live.model.tokenizer.piece_of(i), limit=20) for i in stops[:2])
    return ranged(
        "The model can end an answer with a token, like any other. How probable is it that it ends "
        "here, before the first word?",
        share,
        (
            (0.001, "under 0.1 %"),
            (0.01, "0.1 to 1 %"),
            (0.1, "1 to 10 %"),
            (0, "more than 10 %"),
        ),
        f"It is {percent(share)} ({names}), before the settings cut anything. Nobody decides that "
        "an answer is complete: the end is drawn, too.",
    )
