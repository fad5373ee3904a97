"""Tokens laid over the characters that they cover, as rows of a piece table."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from components.kit.text import visible
from components.kit.theme import token_colour
from components.tokenizer.card import groups
from components.tokenizer.piece_table import Cell, Row

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Token


def character_row(text: str, first: int = 0, last: int | None = None) -> Row:
    """Return one cell a character, for the characters `first` up to before `last`."""
    last = len(text) if last is None else last
    return Row(
        "characters",
        tuple(
            Cell(column, column + 1, visible(char), title=f"U+{ord(char):04X}")
            for column, char in enumerate(text[first:last])
        ),
        note=f"{len(text):,} in all" if last - first < len(text) else f"{len(text):,}",
    )


def token_row(
    label: str,
    tokens: Sequence[Token],
    *,
    first: int = 0,
    last: int,
    disputed: Container[int] = (),
    note: str = "",
) -> Row:
    """Return one cell a token; tokens that share a character share a cell.

    Args:
        label: what stands before the row.
        tokens: of the whole text.
        first: the first character that is shown.
        last: one past the last character that is shown.
        disputed: places whose cuts are marked; place i stands before character i.
        note: a few words after the label.
    """
    cells: list[Cell] = []
    filled = first
    for start, end in groups(tokens):
        part = tokens[start:end]
        left, right = max(part[0].start, first), min(part[-1].end, last)
        if left >= right:
            continue
        if left > filled:
            cells.append(Cell(filled - first, left - first, "", title="no token"))
        cells.append(_cell(part, left - first, right - first, part[0].start in disputed))
        filled = right
    if filled < last:
        cells.append(Cell(filled - first, last - first, "", title="no token"))
    return Row(label, tuple(cells), note)


def _cell(part: Sequence[Token], left: int, right: int, disputed: bool) -> Cell:
    title = "\n".join(
        f"id {token.id}: {visible(token.piece)}, bytes {token.data.hex(' ').upper()}"
        for token in part
    )
    if len(part) == 1:
        text, colour = visible(part[0].data), token_colour(part[0].id)
    else:
        text, colour = f"×{len(part)}", token_colour(part[0].id)
    return Cell(left, right, text, colour, title, disputed=disputed and left > 0)
