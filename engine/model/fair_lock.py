"""A lock and a queue that serve people in the order in which they came.

Two classmates generate at once on one model. Each holds the model's lock for one token. A plain
`threading.Lock` makes no promise about who comes next, so the one who has just let go could take it
again and again while the other stands still. Here the next token always goes to whoever has waited
longest.

Training holds one such lock for a whole session. Whoever waits there uses `place`, asks how many
are `ahead`, and can leave from any place in the queue, for instance when the page is closed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

Place = threading.Event
"""One place in the queue. It is set when its turn has come."""


class FairLock:
    """First come, first served; a context manager; not re-entrant."""

    def __init__(self) -> None:
        self._guard = threading.Lock()  # protects the queue, and only for an instant
        self._queue: deque[Place] = deque()  # the first one holds the lock, the others wait

    def acquire(self) -> None:
        """Take the lock, or wait for the turn."""
        place = self._join()
        try:
            place.wait()
        except BaseException:
            self._leave(place)
            raise

    def release(self) -> None:
        """Hand the lock to who has waited longest, or leave it free.

        Raises:
            RuntimeError: The lock is not held.
        """
        with self._guard:
            if not self._queue:
                raise RuntimeError("This lock is released more often than it was taken.")
            self._queue.popleft()
            self._call_first()

    def locked(self) -> bool:
        """Tell whether somebody holds the lock now."""
        return bool(self._queue)

    @contextmanager
    def place(self) -> Iterator[Place]:
        """Stand in the queue as long as the context lasts, without blocking.

        The lock is held from the moment when nobody is `ahead` until the context ends.
        """
        place = self._join()
        try:
            yield place
        finally:
            self._leave(place)

    def ahead(self, place: Place) -> int:
        """Return how many are before this place; at 0 it holds the lock."""
        with self._guard:
            return self._queue.index(place)

    def _join(self) -> Place:
        """Stand at the end of the queue; the first one has the lock at once."""
        place = Place()
        with self._guard:
            self._queue.append(place)
            self._call_first()
        return place

    def _leave(self, place: Place) -> None:
        """Leave the queue from any place, passing the lock on if it had been given already."""
        with self._guard:
            self._queue.remove(place)
            self._call_first()

    def _call_first(self) -> None:
        """Tell the first one in the queue that it holds the lock. The caller holds the guard."""
        if self._queue:
            self._queue[0].set()

    def __enter__(self) -> FairLock:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.release()
