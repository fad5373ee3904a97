"""Widgets whose value is in the link, each of them checked when it is drawn first.

A value that can't be taken falls back to the widget's own start, and the user is told so. The
names, ranges and lengths are in `components.link.keys`; how a link is read, step by step, is in
`components.link.check`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from components.link import check, history, keys

Option = TypeVar("Option")
Wrong = tuple[int | float | str | None, str] | None
"""What the link gets in place of a wrong value (None: nothing, the widget's own start counts), and
a sentence on it, empty where there is nothing to say; None if nothing is wrong."""


def choice(
    label: str,
    options: Sequence[Option],
    *,
    key: str,
    default: Option | None = None,
    draw: Callable[..., Any] = st.segmented_control,
    spell: Callable[[Any], str] = str,
    formerly: Mapping[str, str] | None = None,
    **look: Any,
) -> Option:
    """Draw a choice of one option and return it.

    Args:
        label: what the user knows it as.
        options: at least one.
        key: of the session state, and of the link, which holds the option's spelling.
        default: what is chosen at first; the first option if None.
        draw: `st.segmented_control`, `st.pills`, `st.selectbox` or `st.select_slider`.
        spell: writes an option.
        formerly: what older links call an option, and its spelling today.
        look: further arguments of `draw`.
    """
    start = options[0] if default is None else default
    if st.session_state.get(key, start) not in options:
        st.session_state[key] = start
    names = [spell(option) for option in options]

    def examine(value: str) -> Wrong:
        if formerly and value in formerly:
            return formerly[value], ""
        notice = _not_one_of(label, value, names, spell(start))
        return (None, notice) if notice else None

    _check(key, examine)
    if draw in (st.segmented_control, st.pills):
        look |= {"default": start, "required": True}
    elif draw == st.select_slider:
        look |= {"value": start}
    else:
        look |= {"index": options.index(start)}
    chosen: Option = draw(label, options, format_func=spell, key=key, bind="query-params", **look)
    history.share(key)
    return chosen


def toggle(label: str, *, key: str, **look: Any) -> bool:
    """Draw a switch that is off at first, and return how it stands."""

    def examine(value: str) -> Wrong:
        notice = _not_one_of(label, value.lower(), ("true", "false"), "false")
        return (None, notice) if notice else None

    _check(key, examine)
    return st.toggle(label, key=key, bind="query-params", **look)


def slider(entry: keys.Limit, *, label: str | None = None, **look: Any) -> int | float:
    """Draw a slider over a range and return its value; without a choice it is disabled.

    A value of the session that the range no longer holds becomes the nearest one.
    """
    low, high, start = (entry.number(value) for value in (entry.low, entry.high, entry.default))
    value = st.session_state.get(entry.key)
    if isinstance(value, int | float) and not low <= value <= high:
        st.session_state[entry.key] = min(max(value, low), high)

    def examine(given: str) -> Wrong:
        changed, notices = check.check_link({entry.key: given}, (entry,))
        return (changed[entry.key], notices[0]) if changed else None

    _check(entry.key, examine)
    step = entry.number(entry.step)
    end, off = (high, False) if high > low else (low + step, True)
    drawn = st.slider(
        label or entry.label,
        low,
        end,
        start,
        step,
        key=entry.key,
        bind="query-params",
        disabled=off,
        **look,
    )
    history.share(entry.key)
    return entry.number(drawn)


def text(label: str, default: str = "", *, key: str, area: bool = False, **look: Any) -> str:
    """Draw a text of limited length and return it."""
    most = keys.LONGEST[key]

    def examine(value: str) -> Wrong:
        if len(value) <= most:
            return None
        return None, (
            f"{label} in the link has {len(value):,} characters; at most {most:,} are taken, so "
            "it is now what it is at first."
        )

    draw = st.text_area if area else st.text_input
    _check(key, examine)
    typed = draw(label, default, key=key, bind="query-params", max_chars=most, **look)
    history.share(key)
    return str(typed or "")


def number(key: str, label: str, high: int) -> int | None:
    """Return a whole number of the session or, at first, of the link; None if there is none.

    For what is chosen by a click and has no widget that is always drawn: a widget that first
    appears after the click would not write its value into the link. `write` does.

    Args:
        key: of the session state, and of the link.
        label: what the user knows it as.
        high: its largest allowed value; the smallest is 0.
    """
    value = _said(key)
    if value is not None:
        entry = keys.Limit(key, label, 0, high, 0, 1, whole=True)
        changed, notices = check.check_link({key: value}, (entry,))
        st.session_state[key] = int(changed[key] if changed else float(value))
        check.say(*notices)
    found = st.session_state.get(key)
    if isinstance(found, int) and found > high:
        found = st.session_state[key] = high
    return found if isinstance(found, int) else None


def name(key: str, label: str, names: Collection[str], default: str) -> str:
    """Return a name of the session or, at first, of the link; for what is chosen by a click."""
    value = _said(key)
    if value is not None:
        notice = _not_one_of(label, value, names, default)
        st.session_state[key] = default if notice else value
        check.say(*([notice] if notice else []))
    found = st.session_state.get(key)
    return str(found) if found in names else default


def _said(key: str) -> str | None:
    """Return what an address says that is new to this run; without a word on it, forget the key."""
    value = check.unread(key)
    if not history.by_address():
        return value
    value = st.query_params.get(key)
    if value is None:
        st.session_state.pop(key, None)
    return value


def write(key: str, value: int | str) -> None:
    """Write a value into the link, where no bound widget does it."""
    if st.query_params.get(key) != str(value):
        st.query_params[key] = str(value)


def kept_text(
    key: str,
    label: str,
    default: str,
    *,
    names: Collection[str] = (),
    spell: Callable[[str], str | None] = str,
) -> str:
    """Return a text that no bound widget holds, and keep it in the link.

    For what a component of our own sets through `st.session_state[key]`. An address that says
    something else than the last time (the browser's Back, a link pasted into the bar) wins.

    Args:
        key: of the session state, and of the link.
        label: what the user knows it as.
        default: what it is at first; it stays out of the link.
        names: what it can be; any text if empty.
        spell: writes the text for the link; None keeps it out.
    """
    said = st.query_params.get(key)
    last = f"{key} in the link"
    if said is not None and said != st.session_state.get(last):
        notice = _not_one_of(label, said, names, default) if names else None
        check.say(*([notice] if notice else []))
        st.session_state[key] = default if notice else said
    elif said is None and history.by_address() and st.session_state.get(last) is not None:
        st.session_state[key] = default
    value = str(st.session_state.setdefault(key, default))
    spelled = None if value == default else spell(value)
    if spelled is None:
        st.query_params.pop(key, None)
    else:
        write(key, spelled)
    st.session_state[last] = spelled
    return value


def _check(key: str, examine: Callable[[str], Wrong]) -> None:
    """Check the link's value of a widget that is drawn next; put it right and run again."""
    value = check.unread(key)
    wrong = None if value is None or key not in st.query_params else examine(value)
    if wrong is None:
        return
    right, notice = wrong
    check.say(*([notice] if notice else []))
    check.put_right(key, right)
    st.rerun()


def _not_one_of(label: str, value: str, names: Collection[str], now: str) -> str | None:
    """Return a sentence if a name in the link is none of those that there are."""
    if value in names:
        return None
    return (
        f"{label} in the link was “{value[:40]}”, which is none of {', '.join(names)}; "
        f"it is now {now}."
    )
