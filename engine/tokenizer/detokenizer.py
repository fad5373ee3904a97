"""The detokenizer for a growing sequence: text as soon as its bytes are complete, token by token.

A token is a run of bytes and can end in the middle of a character. The decoder gives text as soon
as its bytes are complete, holds back what may still become a character, and turns bytes that can
no longer become one into U+FFFD, so the chunks joined are the whole decoded at once.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable

Emit = Callable[[int, bool], tuple[bytes, bool]]
"""(id, whether the tokenizer's own leading space may come) -> (bytes, the same for the next id)."""


class IncrementalDecoder:
    """Text of a growing sequence of tokens, as `Tokenizer.stream` hands it out.

    One decoder serves one sequence and is not for use by several threads.
    """

    def __init__(self, emit: Emit, *, lead_expected: bool = False) -> None:
        self._emit = emit
        self._lead_expected = lead_expected
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, token_id: int) -> str:
        """Take the next token and return the text that is complete now, often an empty string.

        Raises:
            EngineError: The vocabulary has no such id.
        """
        data, self._lead_expected = self._emit(token_id, self._lead_expected)
        text = self._utf8.decode(data)
        if self.waiting[:1] == b"\xed" and self.waiting[1:2] >= b"\xa0":
            # Python waits for the third byte of a surrogate, which UTF-8 does not allow at all.
            text += self.flush()
        return text

    def flush(self) -> str:
        """Return what is left at the end: U+FFFD for a character that was never completed."""
        return self._utf8.decode(b"", final=True)

    @property
    def waiting(self) -> bytes:
        """Bytes of a character that is not complete yet: 0 to 3 of them."""
        return self._utf8.getstate()[0]
