"""A lock that serves its waiters in the order in which they came.

Two classmates generate at once on one model. Each holds the model's lock for one token. A plain
`threading.Lock` makes no promise about who comes next, so the one who has just let go could take it
again and again while the other stands still. Here the next token always goes to who waited longest.
"""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class FairLock:
    """First come, first served; a context manager; not re-entrant."""

    def __init__(self) -> None:
        self._guard = threading.Lock()  # protects the two fields below, and only for an instant
        self._held = False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self) -> None:
        """Take the lock, or wait for the turn."""
        with self._guard:
            if not self._held:
                self._held = True
                return
            turn = threading.Event()
            self._waiting.append(turn)
        try:
            turn.wait()
        except BaseException:
            self._give_up(turn)
            raise

    def release(self) -> None:
        """Hand the lock to who has waited longest, or leave it free.

        Raises:
            RuntimeError: The lock is not held.
        """
        with self._guard:
            if not self._held:
                raise RuntimeError("This lock is released more often than it was taken.")
            if self._waiting:
                # It stays held the whole time: nobody can slip in between two turns.
                self._waiting.popleft().set()
            else:
                self._held = False

    def locked(self) -> bool:
        """Tell whether somebody holds the lock now."""
        return self._held

    def _give_up(self, turn: threading.Event) -> None:
        """Leave the queue after an interrupt, passing the lock on if it had just been given."""
        with self._guard:
            given = turn not in self._waiting
            if not given:
                self._waiting.remove(turn)
        if given:
            self.release()

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
