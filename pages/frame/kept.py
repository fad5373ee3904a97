"""Results that are kept for this session, each with the request that it answers.

A page asks for the result of exactly what stands in its controls now. So a result of another
prompt, model or setting is never shown for it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import streamlit as st


def keep(name: str, request: Hashable, result: Any, *, most: int = 1) -> None:
    """Keep a result.

    Args:
        name: what kind of result it is; also the session's key.
        request: everything that the result depends on.
        result: what `kept` returns for this request from now on.
        most: how many requests of this kind are kept; beyond that the oldest goes.
    """
    results = {**st.session_state.get(name, {})}
    results.pop(request, None)
    results[request] = result
    st.session_state[name] = dict(list(results.items())[-most:])


def kept(name: str, request: Hashable, default: Any = None) -> Any:
    """Return the result for this very request, or else the default."""
    return st.session_state.get(name, {}).get(request, default)


def last(name: str) -> tuple[Any, Any]:
    """Return the request and the result that were kept last; None and None if there are none."""
    results = st.session_state.get(name, {})
    return list(results.items())[-1] if results else (None, None)


def forget(name: str, request: Hashable | None = None) -> None:
    """Throw one result away, or all of this kind."""
    if request is None:
        st.session_state.pop(name, None)
    else:
        results = {**st.session_state.get(name, {})}
        results.pop(request, None)
        st.session_state[name] = results
