"""The sampling page's question: what does a lower temperature make of the likeliest token?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.guess import Guess
from components.kit.numbers import percent
from components.kit.text import quoted
from engine.basics.distribution import softmax

if TYPE_CHECKING:
    from pages.frame.live import Live


def ask(live: Live) -> Guess | None:
    """Ask for the likeliest token's share at half the temperature, or at twice if that is clearer.

    Every option is a share that another rule would give: unchanged, doubled, halved.
    """
    logits = live.trace().logits
    best = int(logits.argmax())
    plain = float(softmax(logits)[best])
    name = quoted(live.model.tokenizer.bytes_of(best), limit=20)
    for temperature in (0.5, 2.0):
        share = float(softmax(logits / temperature)[best])
        shares = sorted({share, plain, min(2 * plain, 1.0), plain / 2})
        options = tuple(dict.fromkeys(percent(value) for value in shares))
        near = sum(abs(value - share) < 0.005 for value in shares)
        if len(options) >= 3 and near == 1:
            return Guess(
                f"At temperature 1 {name} has {percent(plain)}. What does it have at temperature "
                f"{temperature:g}?",
                options,
                options.index(percent(share)),
                f"From {percent(plain)} to {percent(share)}: every score is divided by "
                f"{temperature:g} before the softmax. The order of the tokens stays, so the model "
                "is no better informed; only the dice are loaded in another way.",
            )
    return None
