"""From tokens to text, step by step: what arrived, what is held back, what was shown.

The loop in `engine.generation.loop` reports only the text that can be shown. This module passes an
answer through the same two filters (complete characters, then stop strings) once more and reports
what each of them held back. So a page can explain why a token showed no text, or showed text that
belongs to an earlier token. An answer of several runs reads like that of one (`one_text`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.basics.results import Result
from engine.generation.branches import Written
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
    ended: bool = True,
) -> tuple[tuple[Release, ...], Ending]:
    """Go through the tokens of an answer.

    Args:
        tokenizer: The model's.
        ids: The answer's tokens.
        stop: Stop strings, as `generate` takes them.
        stop_ids: The model's end tokens, which are no text.
        written: How many of the tokens come before a branch; no stop string is looked for in them.
        ended: Whether the run is over, so that what is held back can still complete a stop string
            with the stand-in for half a character.

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
    waiting, before = decoder.waiting, stops.found
    rest = stops.push(decoder.flush())
    if ended and log and before is None and stops.found is not None:
        log[-1] = replace(log[-1], shown=log[-1].shown + rest, held="", found=stops.found)
        rest = ""
    return tuple(log), Ending(waiting, rest + stops.flush())


def releases_of(
    answer: Sequence[Written], tokenizer: Tokenizer, stop_ids: Iterable[int]
) -> tuple[tuple[Release, ...], Ending]:
    """Go through an answer that one or several runs wrote, as `releases` does.

    The stop strings are those of the last run. What runs with other ones had let pass stays.
    """
    stop = answer[-1].setup.stop if answer else ()
    others = [i for i, part in enumerate(answer, start=1) if part.setup.stop != stop]
    return releases(
        tokenizer,
        [part.step.id for part in answer],
        stop=stop,
        stop_ids=stop_ids,
        written=others[-1] if others else 0,
        ended=bool(answer) and answer[-1].step.stop_reason is not None,
    )


def one_text(
    answer: Sequence[Written], tokenizer: Tokenizer, stop_ids: Iterable[int]
) -> tuple[Written, ...]:
    """Return an answer whose steps' texts, joined, are the text of a run without a break.

    A run releases at its end what it held back: half a character, the beginning of a stop string.
    Where another run goes on, that was not the end: the character may become whole, and the stop
    string too. So only the last step releases what is held back, and only if its run is over.
    """
    log, ending = releases_of(answer, tokenizer, stop_ids)
    texts = [release.shown for release in log]
    if answer and answer[-1].step.stop_reason is not None:
        texts[-1] += ending.shown
    return tuple(
        part if part.step.text == text else replace(part, step=replace(part.step, text=text))
        for part, text in zip(answer, texts, strict=True)
    )
