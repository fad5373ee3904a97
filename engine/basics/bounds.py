"""The one check of layers, heads, positions and ids that come from outside."""

from __future__ import annotations

import operator
from typing import Any

from engine.basics.errors import EngineError


def check_index(what: str, value: Any, count: int, *, from_end: bool = False) -> int:
    """Return `value` as an index into `count` things.

    Args:
        what: What is counted, for the message: "layer", "head", "position", "token id".
        value: The number asked for.
        count: How many there are.
        from_end: Whether negative numbers count from the end, as in Python.

    Raises:
        EngineError: There is no such thing; the message says which there are.
    """
    lowest = -count if from_end else 0
    try:
        if isinstance(value, bool):
            raise TypeError
        index = operator.index(value)
    except TypeError:
        index = count  # not a whole number: as wrong as one out of range
    if not lowest <= index < count:
        raise EngineError(f"There is no {what} {value!r}: choose one from 0 to {count - 1}.")
    return index % count
