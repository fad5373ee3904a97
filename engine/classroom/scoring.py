"""The class against the model: whose guess of the next token was better, in bits (Shannon's game).

Each answer is one voice for a token. The class's distribution is its voices and one voice more that
is spread evenly over the whole vocabulary, so that a token which nobody gave is unlikely and not
impossible: with n voices, c of them for a token, its probability is (c + 1/V) / (n + 1). Surprise
is −log₂ of the probability that the token which came was given. Source: C. E. Shannon, Prediction
and entropy of printed English, 1951.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.basics.distribution import largest, softmax, surprisal_bits
from engine.basics.errors import check_index
from engine.basics.results import Result

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.tokenizer.tokenizer import Token, Tokenizer

SHOWN_OF_CLASS = 5
SHOWN_OF_MODEL = 4


@dataclass(frozen=True)
class Word(Result):
    """A word that was given, and how the tokenizer cuts it."""

    texts: tuple[str, ...]
    """As it was typed; several where spellings are cut into the same tokens."""
    count: int
    """How many gave it."""
    ids: tuple[int, ...]
    pieces: tuple[bytes, ...]
    """The bytes of each token; one entry if the word is a whole token."""


@dataclass(frozen=True)
class Row(Result):
    """One token: how the class and how the model saw it."""

    token_id: int
    data: bytes
    voices: int
    class_share: float
    """Share of the voices, without the one that is spread."""
    model_probability: float


@dataclass(frozen=True)
class Score(Result):
    """One round."""

    answers: int
    """n, the answers that count."""
    vocabulary: int
    """V, how many tokens there are."""
    words: tuple[Word, ...]
    """The given words, the most frequent first."""
    rows: tuple[Row, ...]
    """The class's and the model's likeliest tokens and the one that came, by the larger share."""
    came: Row
    """The token that came."""
    class_bits: float | None
    """How surprised the class was; None if nobody answered."""
    model_bits: float


def score(tokenizer: Tokenizer, logits: Array, drawn: int, answers: Sequence[str]) -> Score:
    """Compare the class's answers with the model's distribution at the same place.

    Args:
        tokenizer: The model's.
        logits: `[V]`, the scores after the text so far.
        drawn: The token that came.
        answers: One word a student, as it was typed.

    Raises:
        EngineError: There is no such token.
    """
    drawn = check_index("token id", drawn, len(logits))
    probabilities = softmax(logits)
    words = _words(tokenizer, probabilities, answers)
    voices: Counter[int] = Counter()
    for word in words:
        voices[word.ids[0]] += word.count
    total = sum(voices.values())

    def row(token_id: int) -> Row:
        return Row(
            token_id=token_id,
            data=tokenizer.bytes_of(token_id),
            voices=voices[token_id],
            class_share=voices[token_id] / total if total else 0.0,
            model_probability=float(probabilities[token_id]),
        )

    given = [token_id for token_id, _ in voices.most_common(SHOWN_OF_CLASS)]
    likeliest = [int(token_id) for token_id in largest(probabilities, SHOWN_OF_MODEL)]
    rows = [row(token_id) for token_id in dict.fromkeys([*given, *likeliest, drawn])]
    rows.sort(key=lambda one: -max(one.class_share, one.model_probability))
    came = row(drawn)
    smoothed = class_probability(came.voices, total, len(logits))
    return Score(
        answers=total,
        vocabulary=len(logits),
        words=words,
        rows=tuple(rows),
        came=came,
        class_bits=surprisal_bits(smoothed) if total else None,
        model_bits=surprisal_bits(came.model_probability),
    )


def class_probability(voices: int, answers: int, vocabulary: int) -> float:
    """Return the probability that a class gives a token, one more voice spread over all tokens.

    Args:
        voices: How many gave it.
        answers: n, how many answered.
        vocabulary: V, how many tokens there are.
    """
    return (voices + 1 / vocabulary) / (answers + 1)


def reading(tokenizer: Tokenizer, probabilities: Array, word: str) -> list[Token]:
    """Cut a typed word into tokens, the way whose first token the model finds likeliest.

    The vocabulary holds most words with a leading space and without one, and phones begin every
    word with a capital letter. So the word is read with and without a space, as it was typed and
    with a small first letter.

    Args:
        tokenizer: The model's.
        probabilities: `[V]`, the model's own after the text so far.
        word: What was typed; blanks around it do not count.
    """
    word = word.strip()
    spellings = dict.fromkeys((word, word[:1].lower() + word[1:]))
    cuts = [tokenizer.after("", lead + spelled) for spelled in spellings for lead in (" ", "")]
    readable = [cut for cut in cuts if cut]
    return max(readable, key=lambda cut: (probabilities[cut[0].id], -len(cut)), default=[])


def _words(tokenizer: Tokenizer, probabilities: Array, answers: Sequence[str]) -> tuple[Word, ...]:
    """Return the words that were given; spellings that are cut into the same tokens are one."""
    cuts: dict[tuple[int, ...], list[str]] = {}
    for text, count in Counter(answers).items():
        ids = tuple(token.id for token in reading(tokenizer, probabilities, text))
        if ids:
            cuts.setdefault(ids, []).extend([text] * count)
    words = [
        Word(
            texts=tuple(dict.fromkeys(texts)),
            count=len(texts),
            ids=ids,
            pieces=tuple(tokenizer.bytes_of(token_id) for token_id in ids),
        )
        for ids, texts in cuts.items()
    ]
    return tuple(sorted(words, key=lambda word: -word.count))
