"""Word pieces (tokens) as a row of chips over the text: what each is, its id, and which is chosen.

A chip is a real button: click, Enter or the arrow keys choose it. A character that the tokenizer
cut into several tokens is drawn once, with its tokens and their bytes beneath. Every text goes to
the browser as text, never as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.kit.browser import checked_index, component
from components.kit.numbers import percent
from components.kit.text import clusters, visible
from components.kit.theme import TOKEN_COLOURS, token_colour

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Token

WINDOW = 400
"""The most chips that are drawn at once; the rest is a page away."""

_COMPONENT = component("kit/token_strip", '<div class="strip"></div>')


@dataclass(frozen=True)
class TokenView:
    """One token as the strip draws it."""

    id: int
    text: str
    """What the chip says, already visible (see `components.kit.text.visible`)."""
    piece: str
    """The raw form in the vocabulary, such as `Ġthe`."""
    data_hex: str
    """The bytes in hex, such as `20 74 68 65`."""
    start: int
    end: int
    """The characters of the text that the token covers: from `start`, up to before `end`."""
    special: bool = False
    colour: int = 0
    """Index in `theme.TOKEN_COLOURS`."""
    value: float | None = None
    """A share in 0…1, drawn as a bar under the chip."""
    whole: str | None = None
    """The character, visible, that this token and its neighbours make together."""
    first_of_whole: bool = False


def token_views(
    tokens: Sequence[Token], values: Sequence[float] | None = None
) -> tuple[TokenView, ...]:
    """Return what the strip draws for the tokenizer's tokens.

    Args:
        tokens: in the order of the text.
        values: one share in 0…1 per token, such as its probability.
    """
    if values is not None and len(values) != len(tokens):
        raise ValueError(f"{len(tokens)} tokens need as many values, not {len(values)}.")
    wholes = _characters_of_several_tokens([token.data for token in tokens])
    return tuple(
        TokenView(
            id=token.id,
            text=visible(token.data),
            piece=visible(token.piece),
            data_hex=token.data.hex(" ").upper(),
            start=token.start,
            end=token.end,
            special=token.special,
            colour=token_colour(token.id),
            value=None if values is None else float(values[index]),
            whole=wholes[index][0],
            first_of_whole=wholes[index][1],
        )
        for index, token in enumerate(tokens)
    )


def _characters_of_several_tokens(pieces: Sequence[bytes]) -> list[tuple[str | None, bool]]:
    """Say for every token which text it makes only together with neighbours, and who starts it.

    Neighbours that share a character belong together, and so do those that share what a reader
    takes for one character: a family emoji is 18 tokens of the default vocabulary.
    """
    found: list[tuple[str | None, bool]] = [(None, False)] * len(pieces)
    for start, end in joined(pieces):
        data = b"".join(pieces[start:end])
        if end - start > 1 and _complete(data):
            for index in range(start, end):
                found[index] = (visible(data), index == start)
    return found


def joined(pieces: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of tokens that no border between two characters separates."""
    # Bytes that are no character stand for themselves, so that lengths stay right.
    text = b"".join(pieces).decode("utf-8", "surrogateescape")
    borders, position = {0}, 0
    for cluster in clusters(text):
        position += len(cluster.encode("utf-8", "surrogateescape"))
        borders.add(position)
    start, position = 0, 0
    for index, piece in enumerate(pieces):
        position += len(piece)
        if position in borders:
            yield start, index + 1
            start = index + 1


def _complete(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def token_strip(
    tokens: Sequence[TokenView],
    *,
    key: str,
    selected: int | None = None,
    on_select: Callable[[int], None] | None = None,
    label: str = "Word pieces (tokens)",
    value_label: str = "probability",
    show_ids: bool = True,
) -> int | None:
    """Draw the strip and return the index of the chosen token.

    The browser's own state is lost when the page changes, so the choice belongs to the caller:
    give it as `selected`, and keep what `on_select` reports.

    Args:
        tokens: all tokens; at most `WINDOW` are drawn at once, and the strip says which.
        key: unique on the page.
        selected: the chosen index, or None.
        on_select: called with the index, before the page's script runs again.
        label: the strip's name, for screen readers and above the chips.
        value_label: what `TokenView.value` is, for the tooltip.
        show_ids: whether the ids stand beneath the pieces.
    """
    selected = checked_index(selected, len(tokens))
    strip = st.session_state.get(key, {})
    start = window_start(len(tokens), selected, strip.get("window"))

    def picked() -> None:
        index = checked_index(st.session_state[key].get("picked"), len(tokens))
        if index is not None and on_select is not None:
            on_select(index)

    result = _COMPONENT(
        key=key,
        data={
            "tokens": [_message(token) for token in tokens[start : start + WINDOW]],
            "start": start,
            "total": len(tokens),
            "step": WINDOW,
            "selected": selected,
            "label": label,
            "value_label": value_label,
            "show_ids": show_ids,
            "colours": list(TOKEN_COLOURS),
        },
        on_picked_change=picked,
        on_window_change=lambda: None,
    )
    return _first(checked_index(result.get("picked"), len(tokens)), selected)


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def window_start(count: int, selected: int | None, asked: Any = None) -> int:
    """Return the first token to draw: of the page that was turned to, or of the selected token.

    Args:
        count: how many tokens there are.
        selected: the index of the selected one.
        asked: `{"start": …, "selected": …}` as the browser keeps it. It counts only while the
            selection is the one that was there when the page was turned.
    """
    if count <= WINDOW:
        return 0
    first = selected or 0
    if isinstance(asked, Mapping) and asked.get("selected") == selected:
        turned = checked_index(asked.get("start"), count)
        first = first if turned is None else turned
    return first - first % WINDOW


def _message(token: TokenView) -> dict[str, Any]:
    """Return one token as the script in the browser takes it (short names: there are many)."""
    message: dict[str, Any] = {
        "i": token.id,
        "t": token.text,
        "p": token.piece,
        "b": token.data_hex,
        "s": [token.start, token.end],
        "c": token.colour % len(TOKEN_COLOURS),
    }
    if token.special:
        message["x"] = True
    if token.value is not None:
        share = min(max(token.value, 0.0), 1.0)
        message["v"], message["y"] = round(share, 4), percent(share)
    if token.whole is not None:
        message["w"] = token.whole
        message["f"] = token.first_of_whole
    return message
