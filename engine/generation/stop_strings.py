"""Stop strings: end the text before a given string, even if the string spans several tokens.

A stop string can begin in one token and end in a later one, or lie in the middle of a token. So
text that may be the beginning of a stop string is held back until it is clear what follows.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.basics.errors import EngineError


class StopStrings:
    """Passes text on piece by piece, up to the first stop string.

    The first is the one that is complete first; if two end together, it is the longer one. So the
    result does not depend on how the text is cut into pieces.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        """Take the strings; a single str counts as one.

        Raises:
            EngineError: One of them is empty or not a string.
        """
        self._strings = (strings,) if isinstance(strings, str) else tuple(strings)
        for string in self._strings:
            if not isinstance(string, str) or not string:
                raise EngineError(
                    f"A stop string must have at least one character, but one is {string!r}."
                )
        self._held = ""
        self.found: str | None = None
        """The stop string that ended the text, once there is one."""

    def push(self, text: str) -> str:
        """Take the next piece and return what can be shown now.

        After a stop string was found nothing more comes out.
        """
        if self.found is not None:
            return ""
        waiting = self._held + text
        matches = [
            (start + len(string), start, string)
            for string in self._strings
            if (start := waiting.find(string)) >= 0
        ]
        if matches:
            _, start, self.found = min(matches)
            self._held = ""
            return waiting[:start]
        self._held = ""
        return self.pass_over(waiting)

    def pass_over(self, text: str) -> str:
        """Take text that stays whatever it contains, and return what can be shown now.

        This is for the text before a branch: no match is looked for in it, but a stop string may
        begin at its end.
        """
        waiting = self._held + text
        shown = len(waiting) - self._tail(waiting)
        self._held = waiting[shown:]
        return waiting[:shown]

    @property
    def held(self) -> str:
        """Text that is held back, since a stop string may begin with it."""
        return self._held

    def flush(self) -> str:
        """Return what was held back, at the end of a text in which no stop string was completed."""
        held, self._held = self._held, ""
        return held

    def _tail(self, text: str) -> int:
        """Return the length of the longest end of `text` with which a stop string begins."""
        longest = max((len(string) for string in self._strings), default=1) - 1
        for length in range(min(longest, len(text)), 0, -1):
            if any(string.startswith(text[-length:]) for string in self._strings):
                return length
        return 0
