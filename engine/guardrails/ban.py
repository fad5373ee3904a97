"""Bans on the logits: of the tokens that are a word, and of every way to spell the word.

A token ban removes the ids that are the word; the model can still write it from other pieces. A
sequence ban looks at what was written and removes each token that would complete the word. Neither
torch nor transformers is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Flags
from engine.basics.errors import EngineError
from engine.basics.results import Result

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Tokenizer


@dataclass(frozen=True)
class Spelling(Result):
    """One way to write the word, and its tokens."""

    text: str
    ids: tuple[int, ...]

    @property
    def can_be_banned(self) -> bool:
        """Whether it is one token: banning one of several would hit every word with that piece."""
        return len(self.ids) == 1


def spellings(tokenizer: Tokenizer, word: str) -> tuple[Spelling, ...]:
    """Return the word as given, capitalised, in capitals and in lower case, with and without space.

    Raises:
        EngineError: There is no word.
    """
    bare = word.strip()
    if not bare:
        raise EngineError("There is no word to forbid. Type one.")
    forms = dict.fromkeys((bare, bare[:1].upper() + bare[1:], bare.upper(), bare.lower()))
    texts = [lead + form for form in forms for lead in ("", " ")]
    return tuple(Spelling(text, tuple(t.id for t in tokenizer.encode(text))) for text in texts)


class TokenBan:
    """Removes the tokens that are the word. A guard for `batch.write_rows`."""

    def __init__(self, tokenizer: Tokenizer, word: str) -> None:
        self.banned = tuple(
            spelling.ids[0] for spelling in spellings(tokenizer, word) if spelling.can_be_banned
        )
        self._allowed = np.ones(tokenizer.vocabulary, dtype=np.bool_)
        self._allowed[list(self.banned)] = False
        self._allowed.flags.writeable = False

    def __call__(self, written: Sequence[int]) -> Flags:
        """Return `[V]`, True where a token may come; the same at every step."""
        return self._allowed


class SequenceBan:
    """Removes each token that would complete the word, whatever its pieces and case. A guard."""

    def __init__(self, tokenizer: Tokenizer, word: str) -> None:
        """Group the vocabulary by the end of the word with which a token begins.

        Raises:
            EngineError: There is no word.
        """
        if not word.strip():
            raise EngineError("There is no word to forbid. Type one.")
        self._word = word.strip().casefold().encode()
        # A control token's bytes are its name, which is never shown.
        self._folded = tuple(
            b"" if tokenizer.is_special(i) else _folded(tokenizer.bytes_of(i))
            for i in range(tokenizer.vocabulary)
        )
        whole = [i for i, data in enumerate(self._folded) if self._word in data]
        self._base = np.ones(tokenizer.vocabulary, dtype=np.bool_)
        self._base[whole] = False
        # `_ends[k]`: tokens that complete the word if the text ends with its first k bytes.
        self._ends = [
            [i for i, data in enumerate(self._folded) if data.startswith(self._word[k:])]
            for k in range(len(self._word))
        ]

    def __call__(self, written: Sequence[int]) -> Flags:
        """Return `[V]`, True where a token may come after what was written."""
        tail = b""
        for token_id in reversed(written):
            tail = self._folded[token_id] + tail
            if len(tail) >= len(self._word):
                break
        allowed = self._base.copy()
        for k in range(1, len(self._word)):
            if tail.endswith(self._word[:k]):
                allowed[self._ends[k]] = False
        return allowed


def _folded(data: bytes) -> bytes:
    """Return a token's bytes in one case; of a part of a character only ASCII letters change."""
    try:
        return data.decode().casefold().encode()
    except UnicodeDecodeError:
        return data.lower()
