"""The page's question on speculative decoding: would a third of the layers guess right?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.guess import Guess, ranged
from components.kit.numbers import percent
from components.kit.text import quoted
from engine.basics.distribution import rank_of, softmax
from pages.frame import results

if TYPE_CHECKING:
    from pages.frame.live import Live


def ask(live: Live) -> Guess | None:
    """Ask where the guess of an early exit stands in the model's own list."""
    layers = live.model.architecture.layers
    exit_at = max(layers // 3, 1)
    if exit_at == layers:
        return None
    grid = results.lens_grid(live.model.source, live.ids, (len(live.ids) - 1,))
    guess, logits = int(grid.ids[exit_at, 0]), live.trace().logits
    rank = rank_of(logits, guess)
    best = int(logits.argmax())
    name, top = (quoted(live.model.tokenizer.bytes_of(i), limit=20) for i in (guess, best))
    return ranged(
        f"A cheap helper stops after {exit_at} of {layers} layers and guesses the next token. "
        "Where does its guess stand in the whole model's list?",
        rank,
        (
            (1.5, "on top"),
            (5.5, "2nd to 5th"),
            (100.5, "6th to 100th"),
            (0, "further down"),
        ),
        f"It guesses {name}, number {rank:,} of the model's list, where it has "
        f"{percent(float(softmax(logits)[guess]))}; the model's own first is {top}. A bad guess "
        "costs time and nothing else: the model replaces it.",
    )
