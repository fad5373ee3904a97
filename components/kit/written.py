"""The text so far as one line: the prompt plain, each written token in its own colour."""

from __future__ import annotations

from collections.abc import Sequence

from components.kit.text import html, visible
from components.kit.theme import TOKEN_COLOURS, token_colour, with_alpha


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


def _piece(token_id: int, data: bytes) -> str:
    colour = with_alpha(TOKEN_COLOURS[token_colour(token_id)], 0.35)
    return (
        f'<span style="background:{colour};border-radius:4px;padding:2px 1px;margin-left:2px" '
        f'title="id {token_id}">{html(visible(data))}</span>'
    )
