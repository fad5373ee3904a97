"""The attention page's question: what do all heads together read most?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from components.kit.guess import Guess, named
from components.kit.numbers import percent
from components.kit.text import visible

if TYPE_CHECKING:
    from pages.frame.live import Live


def ask(live: Live) -> Guess | None:
    """Ask which token gets most of the last token's attention, over all heads of all layers."""
    trace, shape = live.trace(), live.model.architecture
    rows = [trace.pattern(layer)[:, -1].mean(axis=0) for layer in range(shape.layers)]
    shares = np.mean(rows, axis=0)
    names = [
        f"{place + 1}: {visible(token.data, limit=14)}" for place, token in enumerate(live.tokens)
    ]
    order = [int(place) for place in np.argsort(-shares, kind="stable")]
    best, last = order[0], len(names) - 1
    heads = shape.layers * shape.heads
    return named(
        f"The last token, {names[last]}, looks back with {heads} heads. Which token gets the most "
        "of its attention, over all of them?",
        names[best],
        [names[place] for place in (last, last - 1, 0, *order) if place >= 0],
        f"It gets {percent(float(shares[best]))} on average, the next one "
        f"({names[order[1] if last else 0]}) {percent(float(shares[order[1] if last else 0]))}. "
        + (
            "The first token is where heads rest when they find nothing to fetch."
            if best == 0
            else "Often it is the first token, where heads rest."
        ),
    )
