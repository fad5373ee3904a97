"""Guesses that need no writing: pieces of a word, two orders, heads and their worth, next words.

Each function takes the model and plain text, and gives the numbers that the lesson tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.attention.patterns import readers
from engine.basics.distribution import rank_of, softmax
from engine.basics.errors import EngineError
from engine.basics.results import Result
from engine.embedding import order
from engine.interpret.knockout import without_heads
from engine.tracing.trace import trace

if TYPE_CHECKING:
    from engine.model.model import LanguageModel
    from engine.tracing.trace import Trace

LOOKING = 8
"""How many of the heads that look hardest at a word are taken away, one at a time."""
BUSY, IDLE = 0.5, 0.1
"""A head looks hard at a word from the first share of its attention on, hardly up to the second."""

SLIGHT = 0.05
"""A change of a probability by less than this share of it leaves it all but as it was."""


@dataclass(frozen=True)
class Cut(Result):
    """One word in pieces, by itself and after a space."""

    word: str
    alone: tuple[bytes, ...]
    after_space: tuple[bytes, ...]


def cut(model: LanguageModel, word: str) -> Cut:
    """Return the pieces of a word at the start of a text and inside of one."""
    tokenizer = model.tokenizer
    return Cut(
        word=word,
        alone=tuple(token.data for token in tokenizer.encode(word)),
        after_space=tuple(token.data for token in tokenizer.after("", f" {word}")),
    )


@dataclass(frozen=True)
class TwoOrders(Result):
    """The same tokens in two orders: what the last of them gets, told of positions and not."""

    first_layer: float
    """How far the first layer's results for the last token differ, as a share of their length."""
    first_layer_untold: float
    """The same with position off."""
    last_layer_untold: float
    """Of the last layer, with position off."""
    told: str
    """What the model writes after the first order, always taking the likeliest token."""
    untold: str
    """The same with position off."""


def two_orders(model: LanguageModel, first: str, second: str, count: int) -> TwoOrders:
    """Compare two orders of the same tokens, and write `count` tokens after the first.

    Raises:
        EngineError: One of the texts is empty.
    """
    tokenizer = model.tokenizer
    one, other = (tokenizer.ids(f" {text}", add_bos=True) for text in (first, second))
    found = order.compare(model, one, other)
    texts = [
        tokenizer.decode(order.written(model, one, count, positions=positions))
        for positions in (True, False)
    ]
    return TwoOrders(
        first_layer=float(found.with_position.differences[0]),
        first_layer_untold=float(found.without_position.differences[0]),
        last_layer_untold=float(found.without_position.differences[-1]),
        told=texts[0],
        untold=texts[1],
    )


@dataclass(frozen=True)
class HeadWorth(Result):
    """One head: how hard it looks at a word, and what the answer has without it."""

    layer: int
    head: int
    attention: float
    """The share of the last token's attention that goes to the word."""
    without: float
    """The answer's probability without this head."""


@dataclass(frozen=True)
class Looking(Result):
    """Heads that look hard at one word of a prompt, and one that hardly does."""

    answer: bytes
    """The likeliest next token."""
    probability: float
    needed: HeadWorth
    """Of the heads that look hard, the one whose absence costs the answer most."""
    useless: HeadWorth
    """Of the heads that look hard and whose absence leaves the answer all but as it was, the one
    that looks hardest; if there is none, the one whose absence changes it least."""
    idle: HeadWorth | None
    """A head of the first layer that hardly looks at the word, the one whose absence costs the
    answer most; None if all of them look."""


def looking(model: LanguageModel, prompt: str, word: str) -> Looking:
    """Take the heads away, one at a time, in which the last token looks hardest at a word.

    Args:
        model: The model.
        prompt: The text.
        word: It stands in the text; the last token of its last occurrence counts.

    Raises:
        EngineError: The word is not in the prompt.
    """
    tokens = model.tokenizer.encode(prompt, add_bos=True)
    end = prompt.rfind(word) + len(word)
    if word not in prompt:
        raise EngineError(f"“{word}” does not stand in “{prompt}”.")
    place = next(i for i, token in enumerate(tokens) if token.end >= end)
    seen = trace(model, [token.id for token in tokens])
    shares = readers(seen, len(tokens) - 1, place)
    heads = model.architecture.heads
    hardest = [divmod(int(i), heads) for i in shares.order[:LOOKING]]
    busy = [(layer, head) for layer, head in hardest if shares.shares[layer, head] >= BUSY]
    busy = busy if len(busy) > 1 else hardest[:2]
    quiet = [(0, head) for head in range(heads) if shares.shares[0, head] <= IDLE]
    answer = int(seen.logits.argmax())
    worths = _worths(seen, answer, [*busy, *quiet], shares.shares)
    hard, idle = worths[: len(busy)], worths[len(busy) :]
    whole = float(softmax(seen.logits)[answer])
    needed = min(hard, key=lambda worth: worth.without)
    others = [worth for worth in hard if worth is not needed]
    return Looking(
        answer=model.tokenizer.bytes_of(answer),
        probability=whole,
        needed=needed,
        useless=_useless(others, whole),
        idle=min(idle, key=lambda worth: worth.without, default=None),
    )


def _useless(worths: list[HeadWorth], whole: float) -> HeadWorth:
    idle = [worth for worth in worths if abs(worth.without - whole) < SLIGHT * whole]
    if idle:
        return max(idle, key=lambda worth: worth.attention)
    return min(worths, key=lambda worth: abs(worth.without - whole))


def _worths(
    seen: Trace, answer: int, heads: list[tuple[int, int]], shares: np.ndarray
) -> list[HeadWorth]:
    without = without_heads(seen, answer, dict.fromkeys(heads))
    return [
        HeadWorth(layer, head, float(shares[layer, head]), without[layer, head])
        for layer, head in heads
    ]


@dataclass(frozen=True)
class Expected(Result):
    """What a model expects after a prompt, and how much of it one answer has."""

    prompt: str
    top: bytes
    """The likeliest next token."""
    top_probability: float
    answer: str
    """The answer that is asked for."""
    probability: float
    """Of the answer, in any of its spellings."""
    rank: int
    """Of its likeliest spelling, 1 for the top."""
    is_top: bool
    """Whether the top token is one of its spellings."""


def expected(model: LanguageModel, prompt: str, *spellings: str) -> Expected:
    """Return how probable an answer is right after a prompt.

    Args:
        model: The model.
        prompt: The text.
        spellings: Of the answer, each with its space in front; of each the first token counts.
    """
    tokenizer = model.tokenizer
    logits = trace(model, tokenizer.ids(prompt, add_bos=True)).logits
    shares = softmax(logits)
    ids = {tokenizer.after(prompt, spelling)[0].id for spelling in spellings}
    top = int(logits.argmax())
    return Expected(
        prompt=prompt,
        top=tokenizer.bytes_of(top),
        top_probability=float(shares[top]),
        answer=spellings[0].strip(),
        probability=float(sum(shares[token_id] for token_id in ids)),
        rank=min(rank_of(logits, token_id) for token_id in ids),
        is_top=top in ids,
    )


def expected_each(
    model: LanguageModel, asked: Sequence[tuple[str, Sequence[str]]]
) -> tuple[Expected, ...]:
    """Return `expected` for several prompts, each with the spellings of its answer."""
    return tuple(expected(model, prompt, *spellings) for prompt, spellings in asked)
