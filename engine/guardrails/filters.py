"""Filters that look for words: the input filter on the prompt, the output filter on the answer.

The input filter reads the prompt before the tokenizer does. Whoever wants to get past it writes
the word so that a person and the model still read it but the filter does not: letters that look
alike, characters without width, another language. Unicode normalisation undoes some of these
disguises and leaves others.

The output filter reads the text on its way to the screen, chunk by chunk. If it shows each chunk
at once, it notices a word only when the word is complete, and its beginning is on the screen
already. So it holds the last characters back, and the reader sees the text that much later.
Neither torch nor transformers is imported here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.basics.results import Result

_OTHER_SCRIPTS = "авсеһіјкморѕтухԁոɡαεικνορτυı"
_LATIN_TWINS = "abcehijkmopstyxdngaeiknoptyi"

LOOK_ALIKES: Mapping[str, str] = dict(zip(_OTHER_SCRIPTS, _LATIN_TWINS, strict=True))
"""Letters of other scripts, each with the Latin letter that it looks like. Unicode's own table
(UTS #39, confusables) has thousands."""

_TO_LOOK_ALIKE: Mapping[str, str] = {
    latin: other for other, latin in reversed(list(LOOK_ALIKES.items())) if "а" <= other <= "ԁ"
}

ZERO_WIDTH = "\u200b"

# Of normalised text: a run of letters or digits, its borders, and what may stand in between.
_LETTERS = re.compile(r"[^\W_]+")
_START, _END = r"(?<![^\W_])", r"(?![^\W_])"
_GAP = r"[\W_]*"
# A joining mark or one blank; an apostrophe joins nothing, or "we'll" would hold "well".
_JOINT = r"(?:[^\w\s'’]{1,2}|_|\s)"
_MARK = re.compile(r"[^\w\s]|_")


def fold(text: str) -> str:
    """Return a text as a plain filter compares it: without upper case."""
    return text.casefold()


def normalise(text: str) -> str:
    """Return a text with disguises removed.

    Compatibility forms become plain ones (NFKC: fullwidth and styled letters), invisible characters
    (zero width, soft hyphen) and accents are removed, look-alikes become Latin, case is folded.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    kept = (char for char in plain if unicodedata.category(char) not in {"Cf", "Mn"})
    return "".join(LOOK_ALIKES.get(char, char) for char in kept)


def letters(text: str) -> str:
    """Return only the letters and digits of a normalised text."""
    return "".join(_LETTERS.findall(normalise(text)))


def can_be_read(text: str, word: str) -> bool:
    """Say whether a person can read the word in a text, whatever its case or disguise.

    Both are normalised first. Then the word can be read where its letters stand

    - together, inside of a longer word too: "museums" holds "museum";
    - one by one, with one to three blanks or signs between them: "m u s e u m", "M.U.S.E.U.M";
    - in pieces that a hyphen or another mark joins: "mu-seum", "mu_se um".

    Blanks alone join no pieces of several letters: "from England" does not hold "Rome", nor does
    "to get her" hold "together". The blanks and signs of the word itself may be others or missing.
    """
    parts = _LETTERS.findall(normalise(word))
    if not parts:
        return False
    plain, needle = normalise(text), letters(word)
    together = _GAP.join(map(re.escape, parts))
    if re.search(together, plain):
        return True
    one_by_one = "[\\W_]{1,3}".join(map(re.escape, needle))
    if re.search(f"{_START}{one_by_one}{_END}", plain):
        return True
    joined = f"{_JOINT}?".join(map(re.escape, needle))
    pieces = re.finditer(f"{_START}{joined}{_END}", plain)
    return any(_MARK.search(found.group()) for found in pieces)


def tells(text: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return which of some words stand in a text as whole words, in the singular or with an s.

    A coarse measure of whether a text gives something away in other words: it knows the words of
    its list and no others, and it does not notice "it is not a dog".
    """
    plain = normalise(text)
    found = []
    for word in words:
        parts = _LETTERS.findall(normalise(word))
        if parts and re.search(
            _START + "[\\W_]+".join(map(re.escape, parts)) + f"(?:e?s)?{_END}", plain
        ):
            found.append(word.strip())
    return tuple(found)


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
    """Return the text with an invisible character inside each of the words."""
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
    """Return the text with spaces between the letters of the words."""
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


# --- the output filter ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen(Result):
    """What is on the screen when the text is over or the filter has fired."""

    hold_back: int
    """How many characters the filter held back."""
    text: str
    """What is on the screen."""
    fired: bool
    """Whether the filter stopped the text."""
    word_part: int
    """How many of the word's first characters are at the end of the screen, if the filter fired."""
    whole_word: bool
    """Whether the forbidden word itself is on the screen."""


class OutputFilter:
    """Passes text on until a forbidden word is complete in it."""

    def __init__(self, word: str, hold_back: int) -> None:
        self._word = fold(word.strip())
        self._hold_back = max(0, hold_back)
        self._shown = ""
        self._waiting = ""
        self.fired = False

    def push(self, chunk: str) -> str:
        """Take a chunk and return what may be shown now."""
        if self.fired:
            return ""
        self._waiting += chunk
        if self._word and self._word in fold(self._shown + self._waiting):
            self.fired = True
            return ""
        released = self._waiting[: max(0, len(self._waiting) - self._hold_back)]
        return self._release(released)

    def flush(self) -> str:
        """Return what was held back, at the end of the text; nothing if the filter has fired."""
        return "" if self.fired else self._release(self._waiting)

    @property
    def shown(self) -> str:
        """What is on the screen."""
        return self._shown

    def _release(self, text: str) -> str:
        self._shown += text
        self._waiting = self._waiting[len(text) :]
        return text


def seen(chunks: Iterable[str], word: str, hold_back: int) -> Seen:
    """Run a text through the filter.

    Args:
        chunks: The text as it came, one piece per token.
        word: What must not be shown.
        hold_back: How many characters the filter keeps back.
    """
    gate = OutputFilter(word, hold_back)
    for chunk in chunks:
        gate.push(chunk)
    gate.flush()
    whole, needle = fold(gate.shown), fold(word.strip())
    part = max((size for size in range(1, len(needle)) if whole.endswith(needle[:size])), default=0)
    return Seen(
        hold_back=gate._hold_back,
        text=gate.shown,
        fired=gate.fired,
        word_part=part if gate.fired else 0,
        whole_word=bool(needle) and needle in whole,
    )


def by_hold_back(chunks: Sequence[str], word: str, most: int = 20) -> tuple[Seen, ...]:
    """Return what is seen with 0, 1, … `most` characters held back."""
    return tuple(seen(chunks, word, size) for size in range(most + 1))
