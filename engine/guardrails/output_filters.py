"""Guardrails: the output filter, which reads the text on its way to the screen.

The text comes in chunks. A filter that shows each chunk at once can notice a word only when it is
complete: what came before is on the screen already. So it holds the last characters back, and the
reader sees the text that much later. Imports neither torch nor transformers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.guardrails.filters import fold


@dataclass(frozen=True)
class Seen:
    """What a reader has seen when the text is over or the filter has fired."""

    hold_back: int
    """How many characters the filter held back."""
    text: str
    """What is on the screen."""
    fired: bool
    """Whether the filter stopped the text."""
    word_part: int
    """How many of the word's first characters stand at the end of what is on the screen."""
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
        chunks: The text as it came, one piece a token.
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
