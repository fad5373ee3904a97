"""Streaming to a client: the server-sent events of a run, as they go over the wire."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import counted, readable, visible

if TYPE_CHECKING:
    from engine.generation.server_events import ServerEvent


HEIGHT = 360
"""In pixels, of both views."""


def rows(events: Sequence[ServerEvent]) -> list[dict[str, str | int]]:
    """Return one row of plain text an event."""
    return [
        {
            "event": number,
            "after": f"{event.milliseconds:,.0f} ms",
            "tokens made": event.tokens,
            "carries": _carries(event.wire),
        }
        for number, event in enumerate(events, start=1)
    ]


def _carries(wire: str) -> str:
    """Return in a few words what is in an event."""
    body = wire.removeprefix("data: ").strip()
    if body == "[DONE]":
        return "the end of the stream"
    choice = json.loads(body)["choices"][0]
    if choice["finish_reason"] is not None:
        return f"why it ended: {choice['finish_reason']}"
    delta = choice.get("delta", {})
    return "who speaks" if "role" in delta else visible(choice.get("text", delta.get("content")))


def wire_text(events: Sequence[ServerEvent]) -> str:
    """Return all events as one text; what would do something to a screen is made visible."""
    lines = "".join(event.wire for event in events).split("\n")
    return "\n".join(readable(line) for line in lines)


def event_list(events: Sequence[ServerEvent], tokens: int, *, key: str) -> None:
    """Draw the events, and what to notice about them."""
    carrying = sum('"finish_reason": null' in event.wire for event in events)
    st.markdown(
        f"{counted(tokens, 'token')} went out in {counted(carrying, 'event')} with text: a "
        "token that completes no character sends nothing. "
        + (
            "The last two events say why the text ended, and that the stream is over."
            if events and "[DONE]" in events[-1].wire
            else "The run was cut off, so the stream just ends."
        )
    )
    table, wire = st.columns([1, 1.3])
    with table:
        st.dataframe(rows(events), key=key, hide_index=True, width="stretch", height=HEIGHT)
    with wire:
        st.code(wire_text(events) or " ", language=None, height=HEIGHT, wrap_lines=True)
