"""Streaming to a client: the server-sent events of a run, as they go over the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.text import visible

if TYPE_CHECKING:
    from engine.server_events import ServerEvent


def rows(events: Sequence[ServerEvent]) -> list[dict[str, str | int]]:
    """Return one row of plain text an event."""
    return [
        {
            "event": number,
            "after": f"{event.milliseconds:,.0f} ms",
            "tokens made": event.tokens,
            "on the wire": _wire(event.wire),
        }
        for number, event in enumerate(events, start=1)
    ]


def _wire(text: str) -> str:
    """Make the event visible but keep its spaces: it is code."""
    return " ".join(visible(word) for word in text.split(" "))


def event_list(events: Sequence[ServerEvent], tokens: int, *, key: str) -> None:
    """Draw the events, and what to notice about them."""
    carrying = sum('"finish_reason": null' in event.wire for event in events)
    st.markdown(
        f"{tokens} tokens went out in {carrying} events with text: a token that completes no "
        "character sends nothing. `⏎` ends a line; an empty line ends an event. "
        + (
            "The last two say why the text ended, and that the stream is over."
            if events and "[DONE]" in events[-1].wire
            else "The run was cut off, so the stream just ends."
        )
    )
    st.dataframe(
        rows(events),
        key=key,
        hide_index=True,
        width="stretch",
        height=min(36 * (len(events) + 1) + 4, 420),
        column_config={
            "event": st.column_config.NumberColumn(width=60),
            "after": st.column_config.TextColumn(width=90),
            "tokens made": st.column_config.NumberColumn(width=100),
        },
    )
