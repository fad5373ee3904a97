"""The training page's question: which token of a text surprises the model most?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from components.kit.guess import Guess, named
from components.kit.text import excerpt, visible
from pages.training import session

if TYPE_CHECKING:
    from pages.frame.live import Live


def ask(live: Live, text: str, ids: tuple[int, ...]) -> Guess | None:
    """Ask for the most surprising token of the text whose loss the page shows.

    Args:
        live: the model.
        text: as it was typed.
        ids: its tokens.
    """
    if len(ids) < 4:
        return None
    bits = session.losses(live.model.source, ids).bits
    # The first token has no surprise: nothing stands before it.
    first = len(ids) - len(bits)
    bytes_of = live.model.tokenizer.bytes_of
    names = [
        f"{place + 1}: {visible(bytes_of(token), limit=14)}" for place, token in enumerate(ids)
    ][first:]
    order = [int(place) for place in np.argsort(-bits, kind="stable")]
    most, least = order[0], order[-1]
    return named(
        f"The model reads “{excerpt(text)}” and is scored on every token. Which one surprises it "
        "most?",
        names[most],
        [names[place] for place in (least, order[len(order) // 2], *order[1:])],
        f"{float(bits[most]):.1f} bits: it had one chance in {2 ** float(bits[most]):,.0f}. The "
        f"least surprising is {names[least]} with {float(bits[least]):.1f} bits. Pre-training "
        "lowers the average of these numbers, and does nothing else.",
    )
