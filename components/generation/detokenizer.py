"""The detokenizer at work: bytes in, complete characters out, and what was held back and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit import theme
from components.kit.text import counted, html, markdown, visible

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
    """Return one row of plain text per token.

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
    text = f"{silent} of {counted(len(log), 'token')} let no text out on arrival."
    if ending.waiting:
        text += (
            f" The answer ends in the middle of a character: {markdown(hexed(ending.waiting))} "
            "never became whole, and a client is sent U+FFFD in its place."
        )
    elif ending.shown:
        text += f" At the end {markdown(visible(ending.shown))} was released, held back until then."
    return text


def release_cards(log: Sequence[Release], pieces: Sequence[bytes]) -> str:
    """Return one card per token as HTML: its bytes, what waits, and the text that came out."""
    cards = "".join(
        _card(number, release, piece)
        for number, (release, piece) in enumerate(zip(log, pieces, strict=True), start=1)
    )
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:6px;max-height:24rem;overflow-y:auto" '
        f'aria-label="What each token let out">{cards}</div>'
    )


def _card(number: int, release: Release, piece: bytes) -> str:
    waits = f"waits: {hexed(release.waiting)}" if release.waiting else ""
    waits = waits or (f"held back: {visible(release.held)}" if release.held else "")
    cut = release.found is not None
    out = "cut" if cut else visible(release.shown, limit=16) if release.shown else "nothing yet"
    colour = theme.PICKED if cut or not release.shown else theme.CATEGORICAL[2]
    size = "1.25rem" if release.shown and not cut else ".85rem"
    return (
        f'<div title="{html(reason(release))}" style="min-width:6.2rem;max-width:11rem;'
        f"border:1px solid {theme.with_alpha(colour, 0.7)};border-top:4px solid {colour};"
        f'border-radius:6px;padding:4px 8px;line-height:1.4">'
        f'<div style="font-size:.75rem;opacity:.7">token {number}: '
        f"{html(visible(piece, limit=10))}</div>"
        f'<div style="font-family:monospace;font-size:.8rem">'
        f"{html(hexed(release.arrived)) or '–'}</div>"
        f'<div style="font-size:{size};font-weight:600;min-height:1.8rem">{html(out)}</div>'
        f'<div style="font-size:.75rem;color:{theme.PICKED};min-height:1rem">{html(waits)}</div>'
        "</div>"
    )


def detokenizer_table(log: Sequence[Release], pieces: Sequence[bytes], *, key: str) -> None:
    """Draw all that is known of each token as a table."""
    st.dataframe(
        rows(log, pieces),
        key=key,
        hide_index=True,
        width="stretch",
        height=min(36 * (len(log) + 1) + 4, 420),
    )
