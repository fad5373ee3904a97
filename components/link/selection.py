"""Choices of a layer, a head or a token: select boxes in one slim row, their numbers in the link.

Until somebody chooses, such a choice follows what tells most about this prompt: the page names it
as the start. What a person or a link has chosen stays, on every page.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components.link import check, history, keys, widgets


def pick(
    entry: keys.Limit, spell: Callable[[int], str] = str, *, width: int = 120, shown: bool = False
) -> int:
    """Draw a choice of one number and return it.

    Args:
        entry: the range, and in `default` what is chosen until somebody chooses. The link holds
            the number itself.
        spell: writes a number as it stands in the box; plain text.
        width: of the box, in pixels.
        shown: whether the label stands over the box.
    """
    value = _current(entry)
    st.session_state[entry.key] = value
    options = range(int(entry.low), int(entry.high) + 1)
    chosen = st.selectbox(
        entry.label,
        options,
        format_func=spell,
        key=entry.key,
        persist_state="session",
        label_visibility="visible" if shown else "collapsed",
        width=width,
        disabled=len(options) == 1,
    )
    number = value if chosen is None else int(chosen)
    _remember(entry, number)
    return number


def follow(entry: keys.Limit) -> int:
    """Return the number that is chosen, and keep it in the link, where no box is drawn for it."""
    value = _current(entry)
    st.session_state[entry.key] = value
    _remember(entry, value)
    return value


def chosen(key: str) -> int | None:
    """Return the number that a person or a link chose for `key`; None if nobody did yet."""
    value = st.session_state.get(key)
    return value if isinstance(value, int) and st.session_state.get(_chosen(key)) else None


def _current(entry: keys.Limit) -> int:
    """Return the number that is chosen now: from the address, from the session, or the start."""
    key = entry.key
    text, first = st.query_params.get(key), check.unread(key)
    said = first if first is not None else text
    if said is not None and said != st.session_state.get(_written(key)):
        changed, notices = check.check_link({key: said}, (entry,))
        check.say(*notices)
        st.session_state[_chosen(key)] = not changed or float(entry.default) != changed[key]
        st.session_state[key] = int(changed[key] if changed else float(said))
    elif said is None and history.by_address():
        st.session_state[_chosen(key)] = False  # at that address nobody had chosen yet
    elif st.session_state.get(key) != st.session_state.get(_drawn(key)):
        st.session_state[_chosen(key)] = key in st.session_state
    value = st.session_state.get(key)
    if not st.session_state.get(_chosen(key)) or not isinstance(value, int):
        value = int(entry.default)
    return int(min(max(value, entry.low), entry.high))


def _remember(entry: keys.Limit, number: int) -> None:
    """Keep what was drawn, and write a choice into the link."""
    key = entry.key
    if number != st.session_state[key]:
        st.session_state[_chosen(key)] = True
    st.session_state[_drawn(key)] = number
    if st.session_state.get(_chosen(key)):
        widgets.write(key, number)
        st.session_state[_written(key)] = str(number)
    else:
        st.query_params.pop(key, None)
        st.session_state[_written(key)] = None


def _chosen(key: str) -> str:
    return f"{key} was chosen"


def _drawn(key: str) -> str:
    return f"{key} as it was drawn"


def _written(key: str) -> str:
    return f"{key} in the link"
