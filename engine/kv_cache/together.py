"""One pass for all who write: whoever wants a step joins the next pass over the model.

Servers of large models call it continuous batching. The weights are what a step spends its time on
reading, and they are the same for everybody. So while one pass runs, all who want the next one
gather, whatever their texts' lengths and settings, and it reads a token for each of them. A text
that ends leaves, a new one joins with its prompt, and nobody waits for anybody's end.

There is no thread of its own. Of those who wait, the first one leads: it takes the model's lock,
runs the pass for all who have gathered by then, and hands the lead on. Who is alone leads at once
and waits for nobody. What each gets is the same in any company (`engine.network.decoder`).
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.basics.results import Result
from engine.network.decoder import Decoder, Reading, fits

if TYPE_CHECKING:
    from engine.model.fair_lock import FairLock
    from engine.model.model import LanguageModel

MOST_ROWS = 64
"""From so many new tokens on, a pass takes nobody else along: the next one follows soon."""

ATTRIBUTE = "_token_by_token_together"
"""The attribute of a network through which all who read it find each other."""


@dataclass(frozen=True)
class OnePass(Result):
    """The pass in which a text was read."""

    milliseconds: float
    """How long it took, without waiting for it."""
    texts: int
    """For how many texts it was."""


class _Request:
    """What one thread wants to be read, for one text or several."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self.readings = readings
        self.tokens = sum(len(one.ids) for one in readings)
        self.called = threading.Event()
        """Set when it is done, and when its thread is to lead."""
        self.done = False
        self.error: Exception | None = None
        self.outcome = OnePass(0.0, 0)


class Together:
    """The passes over one network that all share who write with it."""

    def __init__(self, network: Any, lock: FairLock) -> None:
        self.decoder = Decoder(network)
        self._network = weakref.ref(network)
        self._lock = lock
        self._guard = threading.Lock()  # protects the two below, and only for an instant
        self._waiting: list[_Request] = []
        self._leader: _Request | None = None

    def belongs_to(self, network: Any) -> bool:
        """Say whether it reads this very network; a copy of one carries its original's."""
        return self._network() is network

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Leave it out of copies and files: a copied network gets its own."""
        return type(None), ()

    def read(self, readings: Sequence[Reading]) -> OnePass:
        """Read what these texts are to read, in one pass with whatever others want.

        Raises:
            Exception: What went wrong with these very texts.
        """
        request = _Request(readings)
        self._join(request)
        try:
            request.called.wait()
            if not request.done:
                self._lead()
        finally:
            self._leave(request)
        if request.error is not None:
            raise request.error
        return request.outcome

    def _join(self, request: _Request) -> None:
        """Stand at the end of the queue; who finds nobody at work leads at once."""
        with self._guard:
            self._waiting.append(request)
            if self._leader is None:
                self._call(request)

    def _leave(self, request: _Request) -> None:
        """Leave the queue, however it ended, and let the next one lead if this one did."""
        with self._guard:
            if request in self._waiting:
                self._waiting.remove(request)
            if self._leader is request:
                self._leader = None
                if self._waiting:
                    self._call(self._waiting[0])

    def _call(self, request: _Request) -> None:
        """Give the lead to a request. The caller holds the guard."""
        self._leader = request
        request.called.set()

    def _lead(self) -> None:
        """Run one pass for those who wait; the leader's own request is the first of them."""
        with self._lock:
            batch = self._gathered()
            try:
                self._run(batch)
            finally:
                self._hand_out(batch)

    def _gathered(self) -> list[_Request]:
        """Take those who wait longest out of the queue, as many as a pass takes."""
        with self._guard:
            count = tokens = 0
            while count < len(self._waiting) and tokens < MOST_ROWS:
                tokens += self._waiting[count].tokens
                count += 1
            batch = self._waiting[:count]
            del self._waiting[:count]
        return batch

    def _run(self, batch: Sequence[_Request]) -> None:
        """Read for a whole batch; if that fails, for each alone, so that only its cause fails."""
        readings = [one for request in batch for one in request.readings]
        start = time.perf_counter()
        try:
            self.decoder.read(readings)
        except Exception as error:
            if len(batch) > 1:
                for request in batch:
                    self._run([request])
                return
            batch[0].error = error
        outcome = OnePass((time.perf_counter() - start) * 1000, len(readings))
        for request in batch:
            request.outcome, request.done = outcome, True

    def _hand_out(self, batch: Sequence[_Request]) -> None:
        """Wake who is served; whom an interrupted pass has not reached waits on, in front."""
        with self._guard:
            self._waiting[:0] = [request for request in batch if not request.done]
        for request in batch:
            if request.done:
                request.called.set()


def together_with(model: LanguageModel) -> Together | None:
    """Return through what this model's texts are read together; None if that is not possible."""
    network = model.network
    found: Together | None = getattr(network, ATTRIBUTE, None)
    if found is not None and found.belongs_to(network):
        return found
    if not fits(network):
        return None
    with model.lock:  # two who come first at once are to find each other
        found = getattr(network, ATTRIBUTE, None)
        if found is None or not found.belongs_to(network):
            found = Together(network, model.lock)
            setattr(network, ATTRIBUTE, found)
    return found
