"""The feed-forward page's question: from which layer on does the answer lead?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.guess import Guess, ranged
from components.kit.text import quoted
from pages.frame import results

if TYPE_CHECKING:
    from pages.frame.live import Live


def ask(live: Live) -> Guess:
    """Ask after how many layers the likeliest next token is on top and stays there."""
    layers = live.model.architecture.layers
    grid = results.lens_grid(live.model.source, live.ids, (len(live.ids) - 1,))
    readings = [int(i) for i in grid.ids[:, 0]]
    answer = readings[-1]
    first = next(layer for layer in range(layers + 1) if all(i == answer for i in readings[layer:]))
    name = quoted(live.model.tokenizer.bytes_of(answer), limit=20)
    third = max(layers // 3, 1)
    before = quoted(live.model.tokenizer.bytes_of(readings[max(first - 1, 0)]), limit=20)
    return ranged(
        f"The model ends with {name} on top. It has {layers} layers; after how many of them would "
        "it say so, and stay with it?",
        first,
        (
            (third + 1, f"up to {third}"),
            (2 * third + 1, f"{third + 1} to {2 * third}"),
            (layers, f"{2 * third + 1} to {layers - 1}"),
            (0, f"only after all {layers}"),
        ),
        f"After {first} of {layers} layers {name} leads for good"
        + (f"; one layer earlier it was {before}. " if first else ". ")
        + "Each layer adds a little, and the answer is not looked up at one place.",
    )
