"""Training: one session at a time, so that a class does not fill the machine's memory.

Whoever comes second waits in a queue and is told the place in it. Leaving works from every place,
also when a page is closed while its session trains.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, eq=False)
class Ticket:
    """A place in the queue."""


@dataclass(frozen=True, eq=False)
class TrainingSlot:
    """A queue for one seat."""

    _guard: threading.Lock = field(default_factory=threading.Lock)
    _queue: list[Ticket] = field(default_factory=list)

    @contextmanager
    def ticket(self) -> Iterator[Ticket]:
        """Stand in the queue as long as the context lasts."""
        ticket = Ticket()
        with self._guard:
            self._queue.append(ticket)
        try:
            yield ticket
        finally:
            with self._guard:
                self._queue.remove(ticket)

    def ahead(self, ticket: Ticket) -> int:
        """Return how many are before this ticket: at 0 it is its turn."""
        with self._guard:
            return self._queue.index(ticket)
