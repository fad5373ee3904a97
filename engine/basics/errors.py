"""The engine's errors, and the checks of numbers and token ids that come from outside.

Every error that the engine raises on purpose is an `EngineError`. Its text is a whole sentence for
the person at the screen: it names the value that was wrong and says what to do.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Protocol


class EngineError(Exception):
    """Something went wrong that the user can understand and often put right."""


class ModelLoadError(EngineError):
    """A model could not be fetched, read or used."""


class ModelSizes(Protocol):
    """The two sizes of a model that limit a prompt, as `Architecture` has them."""

    @property
    def vocabulary(self) -> int:
        """V, the number of token ids."""

    @property
    def context(self) -> int:
        """The longest sequence, in tokens."""


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


def checked_ids(ids: Iterable[int], vocabulary: int) -> list[int]:
    """Return token ids as plain ints.

    Args:
        ids: The ids, perhaps none.
        vocabulary: V, how many ids there are.

    Raises:
        EngineError: An id does not exist.
    """
    return [check_index("token id", token_id, vocabulary) for token_id in ids]


def checked_prompt(ids: Iterable[int], sizes: ModelSizes, *, room: int = 0) -> list[int]:
    """Return the ids of a prompt as plain ints.

    Args:
        ids: The prompt's tokens.
        sizes: The model's architecture.
        room: How many tokens must fit into the context after the prompt.

    Raises:
        EngineError: There are no tokens, too many, or one that does not exist.
    """
    prompt = checked_ids(ids, sizes.vocabulary)
    if not prompt:
        raise EngineError("There are no tokens to read: type at least one character.")
    if len(prompt) + room > sizes.context:
        after = f", which leaves no room for {room} more" if room else ""
        raise EngineError(
            f"The prompt has {len(prompt)} tokens and the model takes {sizes.context} at most"
            f"{after}: shorten the text."
        )
    return prompt
