"""Bans on the logits: of the tokens that are a word, and of every way to spell the word.

A token ban removes the ids that are the word; the model can still write it from other pieces. A
sequence ban looks at what was written and removes each token that would complete the word. Neither
torch nor transformers is imported here.
"""

from __future__ import annotations

import codecs
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
    return tuple(Spelling(text, tuple(t.id for t in tokenizer.after("", text))) for text in texts)


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
    """Removes each token that would complete the word, whatever its pieces and case. A guard.

    The rule: a token may not come if the text with it holds the word and the text before did not,
    both with their case folded. Folding belongs to the joined text, because a token may hold a part
    of a character: in many vocabularies `Ł` is two tokens of one byte each.
    """

    def __init__(self, tokenizer: Tokenizer, word: str) -> None:
        """Group the vocabulary by the end of the word with which a token begins.

        Raises:
            EngineError: There is no word.
        """
        if not word.strip():
            raise EngineError("There is no word to forbid. Type one.")
        self._word = word.strip().casefold()
        # A control token's bytes are its name, which is never shown.
        self._data = tuple(
            b"" if tokenizer.is_special(i) else tokenizer.bytes_of(i)
            for i in range(tokenizer.vocabulary)
        )
        texts = [_read(data)[0] for data in self._data]
        self.whole = tuple(i for i, text in enumerate(texts) if self._word in text)
        """The tokens that hold the word by themselves, so that they are removed at every step."""
        self._base = np.ones(tokenizer.vocabulary, dtype=np.bool_)
        self._base[list(self.whole)] = False
        # `_ends[k]`: tokens that complete the word if the text ends with its first k characters.
        self._ends = [
            [i for i, text in enumerate(texts) if text.startswith(self._word[k:])]
            for k in range(len(self._word))
        ]
        self._inside = tuple(i for i, data in enumerate(self._data) if _goes_on(data))

    def __call__(self, written: Sequence[int]) -> Flags:
        """Return `[V]`, True where a token may come after what was written."""
        tail, begun = _read(self._last_bytes(written))
        allowed = self._base.copy()
        if begun:
            # Inside of a character only its next bytes go on with it; few tokens begin with one.
            near = tail[max(0, len(tail) - len(self._word) + 1) :]
            ends = (i for i in self._inside if self._word in near + _read(begun + self._data[i])[0])
            allowed[list(ends)] = False
            return allowed
        for k in range(1, len(self._word)):
            if tail.endswith(self._word[:k]):
                allowed[self._ends[k]] = False
        return allowed

    def _last_bytes(self, written: Sequence[int]) -> bytes:
        """Return the last bytes of a text: enough for all but the word's last character."""
        data = b""
        for token_id in reversed(written):
            data = self._data[token_id] + data
            if len(data) >= 4 * (len(self._word) + 1):
                break
        return data


def _read(data: bytes) -> tuple[str, bytes]:
    """Return the text of some bytes in one case, and the bytes of a character that is not whole."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data)
    return text.casefold(), decoder.getstate()[0]


def _goes_on(data: bytes) -> bool:
    """Say whether bytes begin with a byte that goes on with a character (10xxxxxx)."""
    return bool(data) and data[0] & 0xC0 == 0x80
