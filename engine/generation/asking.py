"""One fact asked in several ways: what the model writes, and how probable the answers are.

A model holds no belief that could be looked up: another wording leads to another list of
probabilities. `ask` puts the ways side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.basics.distribution import softmax
from engine.basics.errors import EngineError
from engine.basics.results import Result
from engine.kv_cache.cached_pass import CachedPass

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.model.model import LanguageModel

TOKENS = 12
"""How many tokens are written after each way of asking."""


@dataclass(frozen=True)
class Way(Result):
    """One way to ask, and the answers that are compared."""

    text: str
    """A text to go on with, or the user's turn of a chat."""
    answers: tuple[str, ...]
    """Each with its leading space; only its first token is compared."""
    chat: bool = False
    """Whether the text is sent as a chat turn."""


@dataclass(frozen=True)
class Asked(Result):
    """What came of one way to ask."""

    way: Way
    before: str
    """What the model writes before the token at which the answers are compared."""
    said: str
    """What it writes there: the likeliest token."""
    after: str
    """What it writes after that."""
    shares: tuple[float, ...]
    """The probability of each answer there; empty if no answer ever was the likeliest token."""


def ask(model: LanguageModel, ways: Sequence[Way], tokens: int = TOKENS) -> tuple[Asked, ...]:
    """Ask in each way and let the model write, always the likeliest token.

    After a plain text the answers are compared at the very next token. A chat turn begins with
    words such as "The capital of"; there it is the first place where an answer is the likeliest.

    Args:
        model: Its lock is held for one pass at a time.
        ways: How to ask.
        tokens: How many to write at most.

    Raises:
        EngineError: The model has no chat, and a way needs one.
    """
    return tuple(_asked(model, way, tokens) for way in ways)


def _asked(model: LanguageModel, way: Way, tokens: int) -> Asked:
    tokenizer = model.tokenizer
    if way.chat and not tokenizer.has_chat:
        raise EngineError("This model has no chat template, so nothing can be asked as a chat.")
    ids = (
        tokenizer.chat([{"role": "user", "content": way.text}])
        if way.chat
        else tokenizer.ids(way.text, add_bos=True)
    )
    wanted = [tokenizer.after(way.text, answer)[0].id for answer in way.answers]
    run = CachedPass(model)
    logits = run.advance(ids)
    written: list[int] = []
    place, found = None, logits
    for step in range(tokens):
        best = int(logits.argmax())
        if place is None and (best in wanted or (step == 0 and not way.chat)):
            place, found = step, logits
        if best in model.stop_ids:
            break
        written.append(best)
        if step < tokens - 1:
            logits = run.advance([best])
    return _read(model, way, written, place, _shares(found, wanted))


def _shares(logits: Array, wanted: Sequence[int]) -> tuple[float, ...]:
    probabilities = softmax(logits)
    return tuple(float(probabilities[token]) for token in wanted)


def _read(
    model: LanguageModel,
    way: Way,
    written: Sequence[int],
    place: int | None,
    shares: tuple[float, ...],
) -> Asked:
    """Cut what was written at the token at which the answers are compared."""

    def text(ids: Sequence[int]) -> str:
        return model.tokenizer.decode(ids, continuing=True)

    if place is None:
        return Asked(way, text(written), "", "", ())
    before, said = written[:place], written[place : place + 1]
    return Asked(way, text(before), text(said), text(written[place + 1 :]), shares)
