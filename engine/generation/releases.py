"""From tokens to text, step by step: what arrived, what is held back, what was shown.

The loop in `engine.generation.loop` reports only the text that can be shown. This module passes an
answer through the same two filters (complete characters, then stop strings) once more and reports
what each of them held back. So a page can explain why a token showed no text, or showed text that
belongs to an earlier token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.basics.results import Result
from engine.generation.stop_strings import StopStrings

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Tokenizer


@dataclass(frozen=True)
class Release(Result):
    """What one token did to the text."""

    arrived: bytes
    """The bytes of the token; empty for an end token, which is no text."""
    waiting: bytes
    """Bytes of a character that is not complete yet, after this token."""
    decoded: str
    """The characters that this token completed."""
    held: str
    """Characters that are complete and held back: a stop string may begin with them."""
    shown: str
    """The text that was released."""
    found: str | None
    """The stop string that ended the text with this token, or None."""


@dataclass(frozen=True)
class Ending(Result):
    """What was still held back when the run was over."""

    waiting: bytes
    """The part of a character that never became whole."""
    shown: str
    """What was released at the end; U+FFFD stands for `waiting`."""


def releases(
    tokenizer: Tokenizer,
    ids: Sequence[int],
    *,
    stop: Iterable[str] = (),
    stop_ids: Iterable[int] = (),
    written: int = 0,
) -> tuple[tuple[Release, ...], Ending]:
    """Go through the tokens of an answer.

    Args:
        tokenizer: The model's.
        ids: The answer's tokens.
        stop: Stop strings, as `generate` takes them.
        stop_ids: The model's end tokens, which are no text.
        written: How many of the tokens come before a branch; no stop string is looked for in them.

    Returns:
        One release per token, and what came at the end. Everything shown, joined, is the text.
    """
    decoder = tokenizer.stream(continuing=True)
    stops = StopStrings(stop)
    ends = frozenset(stop_ids)
    log: list[Release] = []
    for index, token_id in enumerate(ids):
        if token_id in ends:
            log.append(Release(b"", decoder.waiting, "", stops.held, "", None))
            continue
        before = stops.found
        decoded = decoder.push(token_id)
        shown = stops.pass_over(decoded) if index < written else stops.push(decoded)
        found = stops.found if before is None else None
        arrived = tokenizer.bytes_of(token_id)
        log.append(Release(arrived, decoder.waiting, decoded, stops.held, shown, found))
    waiting = decoder.waiting
    return tuple(log), Ending(waiting, stops.push(decoder.flush()) + stops.flush())
