"""Results that all sessions share: each is worked out once, and kept while there is room for it.

Everything that pages keep of the model's work lies in one store, bounded by the bytes that it takes
(`TOKEN_BY_TOKEN_RESULTS_MB`). Where it is full, what goes first is what no session looks at, the
longest unasked of it first. So the passes over thirty students' prompts stay while they look at
them, and a slider never runs the model again.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.frame.operator import whole_number

P = ParamSpec("P")
R = TypeVar("R")

Key = tuple[Hashable, ...]
"""The function's module and name, then its arguments, of which the first is the model's source."""

LIMIT_VARIABLE, USUAL_LIMIT = "TOKEN_BY_TOKEN_RESULTS_MB", 512
LAST_REQUESTS = 48
"""How many of a session's last requests count as what it looks at."""
NOT_COUNTED = ("engine.model.", "engine.tokenizer.tokenizer", "torch", "transformers", "tokenizers")
"""Modules whose objects are the model's own: a result that points to them does not hold a copy."""


class Looker:
    """Stands for one session; it goes with the session's state."""


class Store:
    """Results by request, bounded by their bytes. All methods may be called from any thread."""

    def __init__(self, limit: int) -> None:
        """Make an empty store of `limit` bytes."""
        self.limit = limit
        self._bytes = 0
        self._forgotten = 0
        self._kept: OrderedDict[Key, tuple[Any, int]] = OrderedDict()
        self._in_work: dict[Key, threading.Lock] = {}
        self._looks_at: WeakKeyDictionary[Looker, deque[Key]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """How many bytes the kept results take."""
        return self._bytes

    def get(self, key: Key, work_out: Callable[[], R], looker: Looker | None = None) -> R:
        """Return the result of a request; the first who asks works it out, the others wait.

        Args:
            key: the request.
            work_out: makes the result; what it raises is passed on, and nothing is kept.
            looker: the session that asks.
        """
        with self._lock:
            if looker is not None:
                self._looks_at.setdefault(looker, deque(maxlen=LAST_REQUESTS)).append(key)
            if key in self._kept:
                return cast("R", self._again(key))
            turn = self._in_work.setdefault(key, threading.Lock())
            forgotten = self._forgotten
        with turn:
            with self._lock:
                if key in self._kept:  # while this one waited
                    return cast("R", self._again(key))
            try:
                result = work_out()
                size = size_of(result)
                with self._lock:
                    if self._forgotten == forgotten:  # else its model may have been let go
                        self._keep(key, result, size)
            finally:
                with self._lock:
                    self._in_work.pop(key, None)
        return result

    def forget(self, source: str | None = None) -> None:
        """Throw away what was worked out with a model; everything without `source`."""
        with self._lock:
            self._forgotten += 1
            for key in [key for key in self._kept if source is None or key[1] == source]:
                self._drop(key)

    def _again(self, key: Key) -> Any:
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def _keep(self, key: Key, result: Any, size: int) -> None:
        if key in self._kept:
            self._drop(key)
        self._kept[key] = result, size
        self._bytes += size
        self._make_room()

    def _make_room(self) -> None:
        """Drop the least lately used, first of what no session looks at, until the rest fits."""
        if self._bytes <= self.limit:
            return
        looked_at = {key for keys in self._looks_at.values() for key in keys}
        unseen = [key for key in self._kept if key not in looked_at]
        seen = [key for key in self._kept if key in looked_at]
        for key in [*unseen, *seen]:
            self._drop(key)
            if self._bytes <= self.limit:
                return

    def _drop(self, key: Key) -> None:
        _, size = self._kept.pop(key)
        self._bytes -= size


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """Return the one store of this process."""
    megabytes = whole_number(LIMIT_VARIABLE, USUAL_LIMIT, "{} MB of results are kept")
    return Store(megabytes * 1_000_000)


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function's results be kept in the store; its first argument is the model's source.

    The arguments must be hashable, and the result is shared: nobody may change it.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def asked(*given: P.args, **named: P.kwargs) -> R:
        key = (name, *given, *sorted(named.items()))
        return store().get(key, lambda: function(*given, **named), _looker())

    return asked


def _looker() -> Looker | None:
    """Return what stands for this session; None on a thread that belongs to none."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return None
    if "looker" not in st.session_state:
        st.session_state["looker"] = Looker()
    looker: Looker = st.session_state["looker"]
    return looker


def size_of(result: object) -> int:
    """Return about how many bytes a result takes, without what belongs to the model."""
    return _size(result, set())


def _size(value: object, seen: set[int]) -> int:
    if id(value) in seen or type(value).__module__.startswith(NOT_COUNTED):
        return 0
    seen.add(id(value))
    nbytes = getattr(value, "nbytes", None)
    if isinstance(nbytes, int):
        return nbytes
    own = sys.getsizeof(value)
    if isinstance(value, str | bytes | int | float | type):
        return own
    if isinstance(value, Mapping):
        return own + sum(_size(part, seen) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple | set | frozenset | deque):
        return own + sum(_size(part, seen) for part in value)
    with suppress(TypeError):  # an object without attributes of its own
        return own + sum(_size(part, seen) for part in vars(value).values())
    return own
