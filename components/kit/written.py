"""Written text: the prompt plain, each written token in its own colour; one or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.kit.text import html, readable, visible
from components.kit.theme import PICKED, TOKEN_COLOURS, token_colour, with_alpha


def written_line(prompt: str, tokens: Sequence[tuple[int, bytes]], *, limit: int = 160) -> str:
    """Return the line as HTML.

    Args:
        prompt: the user's text; of a long one the end is shown.
        tokens: id and bytes of what the model has written.
        limit: how many characters of the prompt are shown.
    """
    start = prompt if len(prompt) <= limit else "…" + prompt[-limit:]
    pieces = "".join(_piece(token_id, data) for token_id, data in tokens)
    return (
        '<div style="font-size:1.05rem;line-height:1.9;overflow-wrap:anywhere" '
        f'aria-label="Text so far">{html(visible(start))}{pieces}</div>'
    )


@dataclass(frozen=True)
class WrittenText:
    """One text of a list, in which the token that was drawn first is marked."""

    label: str
    """What stands before it, such as the seed."""
    tokens: Sequence[tuple[int, bytes]]
    """Id and bytes of what was written."""
    end: str = ""
    """What ended it early, such as the end token's name; empty if nothing did."""


def written_texts(texts: Sequence[WrittenText]) -> str:
    """Return texts under each other as HTML, the first token of each framed.

    The words run on as text; colours per token would hide that the first one is what differs.
    """
    rows = "".join(_text_row(text) for text in texts)
    return (
        '<div style="display:grid;grid-template-columns:max-content 1fr;gap:0.3rem 0.9rem;'
        f'align-items:baseline;font-size:1.02rem;line-height:1.45">{rows}</div>'
    )


def _text_row(text: WrittenText) -> str:
    joined = b"".join(data for _, data in text.tokens[1:])
    if text.tokens:
        first_id, first = text.tokens[0]
        shown = text.end if not first and text.end else visible(first)
        body = (
            f'<span style="border:2px solid {PICKED};border-radius:4px;padding:0 3px" '
            f'title="id {first_id}">{html(shown)}</span>'
            f"{html(readable(joined.decode(errors='replace')))}"
        )
        if text.end and len(text.tokens) > 1:
            body += f' <span style="opacity:0.7">{html(text.end)}</span>'
    else:
        body = "…"
    return (
        f'<span style="opacity:0.75;font-size:0.85rem">{html(text.label)}</span>'
        f'<span style="overflow-wrap:anywhere">{body}</span>'
    )


def _piece(token_id: int, data: bytes) -> str:
    colour = with_alpha(TOKEN_COLOURS[token_colour(token_id)], 0.35)
    return (
        f'<span style="background:{colour};border-radius:4px;padding:2px 1px;margin-left:2px" '
        f'title="id {token_id}">{html(visible(data))}</span>'
    )
