"""Read what a link says, check it, and say what had to be changed.

The story of a link, in the order in which it happens:

1. `read_link` runs at the start of a session, before any widget is drawn. It checks the numbers
   that every page shares, puts the address right where one of them can't be taken, and keeps the
   rest of the link aside.
2. `components.link.widgets` checks every other value where its widget is drawn first, by the same
   rule: a wrong value is put right in the address, and the script runs again.
3. So a widget that is bound to the link only ever meets a value that it can take. It would take a
   wrong one as far as it goes (a long text cut, 2.5 read as 2), whatever stands in the session.
4. `show_notices` says at the end of a run what was changed: its name, what stood there, what it
   is now.

`number` and `text` read a value of the link on pages that don't draw its widget.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import streamlit as st

from components.kit.text import markdown
from components.link import history, keys

_UNREAD = "link_to_be_read"
"""Key of the session: the link's values whose widgets have not been drawn yet."""
_NOTICES = "link_notices"
"""Key of the session: sentences that have not been said yet."""
_REMEMBERED = ("in the link", "was chosen", "as it was drawn")
"""Ends of the session's keys under which `widgets` and `selection` remember more of a value."""


def read_link() -> None:
    """At a session's first run, check the shared numbers of the link and keep the rest aside.

    Called before the first widget is drawn and after `st.navigation`, since it may run the script
    again.
    """
    if _UNREAD in st.session_state:
        return
    params = st.query_params.to_dict()
    shared = {entry.key for entry in keys.LIMITS}
    st.session_state[_UNREAD] = {key: text for key, text in params.items() if key not in shared}
    changed, notices = check_link(params)
    if changed:
        say(*notices)
        for key, value in changed.items():
            put_right(key, value)
        st.rerun()


def read_anew() -> None:
    """Take the address for a link that has just been opened: the session forgets the last one.

    Called before the first widget is drawn.
    """
    for key in keys.linked():
        for name in (key, *(f"{key} {rest}" for rest in _REMEMBERED)):
            st.session_state.pop(name, None)
    del st.session_state[_UNREAD]
    read_link()
    # What is set from code also reaches a widget that stays on the screen from page to page.
    for entry in keys.LIMITS:
        st.session_state[entry.key] = number(entry.key)
    st.session_state[keys.CHAT] = text(keys.CHAT) == "true"
    for key in (keys.ORDER, keys.LOGIT_BIAS):
        st.session_state[key] = text(key)


def hold(held: Collection[str]) -> None:
    """Keep these values while the widgets that they belong to are not drawn.

    Called in each run without the widgets, before Streamlit drops them at its end.
    """
    for key in held:
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


def hold_settings() -> None:
    """Before the widgets of another page are drawn: keep the shared settings of the last one.

    Streamlit drops the value of a widget that a page draws together with the page. What is set in
    the session before its widget is drawn is kept.
    """
    hold((*(entry.key for entry in keys.LIMITS), keys.ORDER, keys.LOGIT_BIAS, keys.COUNTED))


def unread(key: str) -> str | None:
    """Return what the session's link says of `key`, once; None if it says nothing."""
    value: str | None = st.session_state.get(_UNREAD, {}).pop(key, None)
    return value


def renamed(key: str, names: Mapping[str, str]) -> None:
    """Give a value of the link its present name, before its widget is drawn; then run again.

    Args:
        key: of the parameter.
        names: the present name of each value that links from before have.
    """
    kept: dict[str, str] = st.session_state.get(_UNREAD, {})
    present = names.get(kept.get(key, ""))
    if present is not None:
        kept[key] = present
        put_right(key, present)
        st.rerun()


def put_right(key: str, value: int | float | str | None) -> None:
    """Write a value into the address in place of a wrong one; None takes it out."""
    if value is None:
        del st.query_params[key]
    else:
        st.query_params[key] = str(value)


def say(*notices: str) -> None:
    """Keep sentences for `show_notices`."""
    st.session_state[_NOTICES] = [*st.session_state.get(_NOTICES, []), *notices]


def show_notices() -> None:
    """Say what was changed in the values that came with the link."""
    for notice in st.session_state.pop(_NOTICES, ()):
        st.toast(markdown(notice), icon=":material/link:", duration="long")


def check_link(
    params: Mapping[str, str], limits: tuple[keys.Limit, ...] = keys.LIMITS
) -> tuple[dict[str, int | float], list[str]]:
    """Check the numbers of a link.

    Args:
        params: the link's parameters, as text.
        limits: what to check them against.

    Returns:
        The values that had to be changed, by key, and a sentence on each.
    """
    changed: dict[str, int | float] = {}
    notices: list[str] = []
    for entry in limits:
        text = params.get(entry.key)
        if text is None:
            continue
        value = _as_number(text)
        if value is None or (entry.whole and not value.is_integer()):
            changed[entry.key] = entry.number(entry.default)
            kind = "a whole number" if entry.whole else "a number"
            notices.append(
                f"{entry.label} in the link was “{text[:40]}”, which is not {kind}; "
                f"it is now {entry.number(entry.default)}."
            )
        elif not entry.low <= value <= entry.high:
            nearest = entry.number(min(max(value, entry.low), entry.high))
            changed[entry.key] = nearest
            notices.append(
                f"{entry.label} in the link was {text[:40]}; it goes from "
                f"{entry.number(entry.low)} to {entry.number(entry.high)}, so it is now {nearest}."
            )
    return changed, notices


def _as_number(text: str) -> float | None:
    """Read a finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def number(key: str) -> int | float:
    """Return a number of the link or of its widget, whether or not that widget is drawn now."""
    entry = keys.limit(key)
    value = _of_session(key)
    if value is None:
        text = st.query_params.get(key, "")
        changed, _ = check_link({key: text}, (entry,)) if text else ({key: entry.default}, [])
        value = changed.get(key, _as_number(text))
    return entry.number(float(entry.default if value is None else value))


def text(key: str) -> str:
    """Return a text of the link or of its widget, whether or not that widget is drawn now."""
    value = _of_session(key)
    return str(st.query_params.get(key, "") if value is None else value)


def _of_session(key: str) -> Any:
    """Return what the session holds; None where an address is about to take its place."""
    return None if history.by_address() else st.session_state.get(key)
