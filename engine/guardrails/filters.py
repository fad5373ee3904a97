"""Guardrails: the input filter, which reads the prompt before the tokenizer does.

A filter looks for words. Whoever wants to get past it writes the word so that a person and the
model still read it but the filter does not: letters that look alike, characters without width,
another language. Unicode normalisation closes some of these doors and leaves others open.
Imports neither torch nor transformers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping

LOOK_ALIKES: Mapping[str, str] = {
    "а": "a", "в": "b", "с": "c", "е": "e", "һ": "h", "і": "i", "ј": "j", "к": "k", "м": "m",
    "о": "o", "р": "p", "ѕ": "s", "т": "t", "у": "y", "х": "x", "ԁ": "d", "ո": "n", "ɡ": "g",
    "α": "a", "ε": "e", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t", "υ": "u",
    "ı": "i",
}  # fmt: skip
"""Letters of other scripts and the Latin letter that they are taken for. Unicode's own table
(UTS #39, confusables) has thousands."""

_TO_LOOK_ALIKE: Mapping[str, str] = {
    latin: other for other, latin in reversed(list(LOOK_ALIKES.items())) if "а" <= other <= "ԁ"
}

ZERO_WIDTH = "\u200b"


def fold(text: str) -> str:
    """Return a text as a plain filter compares it: without upper case."""
    return text.casefold()


def normalise(text: str) -> str:
    """Return a text with its disguises taken off.

    Compatibility forms become plain ones (NFKC: fullwidth and styled letters), characters without
    a picture go (zero width, soft hyphen), accents go, look-alikes become Latin, case goes.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    kept = (char for char in plain if unicodedata.category(char) not in {"Cf", "Mn"})
    return "".join(LOOK_ALIKES.get(char, char) for char in kept)


def letters(text: str) -> str:
    """Return only the letters and digits of a normalised text: what a person can read out of it."""
    return "".join(char for char in normalise(text) if char.isalnum())


def hits(text: str, words: Iterable[str], *, normalised: bool) -> tuple[str, ...]:
    """Return the words that a filter finds in a text.

    Args:
        text: What somebody wrote.
        words: What the filter looks for, anywhere in a text, whatever its case.
        normalised: Whether it normalises both sides first.
    """
    form = normalise if normalised else fold
    haystack = form(text)
    return tuple(word for word in words if word.strip() and form(word.strip()) in haystack)


def zero_width(text: str, words: Iterable[str]) -> str:
    """Return the text with a character without width inside each of the words."""
    return _rewritten(text, words, lambda word: word[0] + ZERO_WIDTH + word[1:])


def look_alike(text: str, words: Iterable[str]) -> str:
    """Return the text with Cyrillic look-alikes in each of the words."""
    return _rewritten(
        text, words, lambda word: "".join(_TO_LOOK_ALIKE.get(char, char) for char in word)
    )


def fullwidth(text: str, words: Iterable[str]) -> str:
    """Return the text with the words in fullwidth letters, as East Asian keyboards write them."""
    return _rewritten(
        text,
        words,
        lambda word: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in word),
    )


def spaced(text: str, words: Iterable[str]) -> str:
    """Return the text with the letters of the words apart."""
    return _rewritten(text, words, " ".join)


def _rewritten(text: str, words: Iterable[str], change: Callable[[str], str]) -> str:
    """Change each occurrence of the words, whatever its case."""
    for word in (word.strip() for word in words):
        if not word:
            continue
        text = re.sub(
            re.escape(word), lambda found: change(found.group()), text, flags=re.IGNORECASE
        )
    return text
