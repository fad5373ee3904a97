"""The detokenizer at work: bytes in, complete characters out, and what was held back and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import markdown, visible

if TYPE_CHECKING:
    from engine.generation.releases import Ending, Release

NOTHING = "nothing yet"


def hexed(data: bytes) -> str:
    """Return bytes in hex, `F0 9F`, or an empty text."""
    return data.hex(" ").upper()


def reason(release: Release) -> str:
    """Say in plain text what happened to one token."""
    if not release.arrived:
        return "the end token is no text"
    if release.found is not None:
        return f"completes the stop string {visible(release.found)}: the text is cut before it"
    if release.held:
        return f"{visible(release.held)} is held back: a stop string may begin with it"
    if release.waiting:
        return "the last character is not complete: more bytes must come"
    if release.shown and not release.decoded.endswith(release.shown):
        return "what was held back is no stop string after all, so it is released"
    if "\ufffd" in release.decoded and b"\xef\xbf\xbd" not in release.arrived:
        return "these bytes can never become a character, so a stand-in is shown"
    if len(release.decoded.encode()) > len(release.arrived):
        return "completes the character that was waiting"
    if release.arrived.startswith(b" ") and len(release.arrived) > 1:
        return "the space belongs to the token"
    return ""


def rows(log: Sequence[Release], pieces: Sequence[bytes]) -> list[dict[str, str | int]]:
    """Return one row of plain text a token.

    Args:
        log: what happened to each token.
        pieces: bytes of each token, or the name of an end token.
    """
    return [
        {
            "token": number,
            "piece": visible(piece),
            "bytes that arrived": hexed(release.arrived),
            "bytes that wait": hexed(release.waiting),
            "held back": visible(release.held),
            "text released": visible(release.shown) or NOTHING,
            "why": reason(release),
        }
        for number, (release, piece) in enumerate(zip(log, pieces, strict=True), start=1)
    ]


def summary(log: Sequence[Release], ending: Ending) -> str:
    """Return one sentence of Markdown on what the detokenizer did."""
    silent = sum(not release.shown for release in log)
    text = f"{silent} of {len(log)} tokens released nothing when they came."
    if ending.waiting:
        text += (
            f" The answer ends in the middle of a character: {markdown(hexed(ending.waiting))} "
            "never became whole, and a client is sent U+FFFD in its place."
        )
    elif ending.shown:
        text += f" At the end {markdown(visible(ending.shown))} was released, held back until then."
    return text


def detokenizer_table(
    log: Sequence[Release], ending: Ending, pieces: Sequence[bytes], *, key: str
) -> None:
    """Draw the table."""
    st.markdown(summary(log, ending))
    st.dataframe(
        rows(log, pieces),
        key=key,
        hide_index=True,
        width="stretch",
        height=min(36 * (len(log) + 1) + 4, 420),
    )
