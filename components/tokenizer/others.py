"""The same text under several vocabularies: tokens as rows over the characters that they cover."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from components.kit.text import counted, markdown, visible
from components.kit.theme import token_colour
from components.tokenizer.card import groups
from components.tokenizer.piece_table import COLUMNS, Cell, Row, piece_table
from components.tokenizer.signs import legend

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Token


def ahead(cuttings: Sequence[Cutting]) -> int:
    """Return the most tokens that a vocabulary puts in front of the text's first character.

    Some begin with a token for a space that nobody typed. It covers no character, so a table has
    a column for it in front.
    """
    return max((len(_ahead(cutting.tokens)) for cutting in cuttings), default=0)


def _ahead(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.end == 0]


def character_row(text: str, first: int = 0, last: int | None = None, *, front: int = 0) -> Row:
    """Return one cell per character, for the characters `first` up to before `last`.

    Args:
        text: the whole text.
        first: the first character that is shown.
        last: one past the last character that is shown.
        front: how many columns stand before the first character.
    """
    last = len(text) if last is None else last
    empty = (Cell(0, front, "", title="no character"),) if front else ()
    return Row(
        "characters",
        (
            *empty,
            *(
                Cell(front + column, front + column + 1, visible(char), title=f"U+{ord(char):04X}")
                for column, char in enumerate(text[first:last])
            ),
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
    front: int = 0,
) -> Row:
    """Return one cell per token; tokens that share a character share a cell.

    Args:
        label: what stands before the row.
        tokens: of the whole text.
        first: the first character that is shown.
        last: one past the last character that is shown.
        disputed: places whose cuts are marked; place i stands before character i.
        note: a few words after the label.
        front: how many columns stand before the first character, for tokens that cover none.
    """
    cells = _front_cells(tokens, front)
    filled = first
    shift = front - first
    for start, end in groups(tokens):
        part = tokens[start:end]
        left, right = max(part[0].start, first), min(part[-1].end, last)
        if left >= right:
            continue
        if left > filled:
            cells.append(Cell(filled + shift, left + shift, "", title="no token"))
        marked = left > first and part[0].start in disputed
        cells.append(_cell(part, left + shift, right + shift, marked))
        filled = right
    if filled < last:
        cells.append(Cell(filled + shift, last + shift, "", title="no token"))
    return Row(label, tuple(cells), note)


def _front_cells(tokens: Sequence[Token], front: int) -> list[Cell]:
    """Return the cells before the first character, as many columns as `front` says."""
    own = _ahead(tokens)[:front]
    cells = [_cell([token], column, column + 1, False) for column, token in enumerate(own)]
    if len(own) < front:
        cells.append(Cell(len(own), front, "", title="no token"))
    return cells


def _cell(part: Sequence[Token], left: int, right: int, disputed: bool) -> Cell:
    title = "\n".join(
        f"id {token.id}: {visible(token.piece)}, bytes {token.data.hex(' ').upper()}"
        for token in part
    )
    # A space in front that nobody typed has no bytes of its own.
    alone = visible(part[0].data) or visible(part[0].piece)
    text = alone if len(part) == 1 else f"×{len(part)}"
    return Cell(left, right, text, token_colour(part[0].id), title, disputed=disputed)


TELLING = "unbelievable jam: 1,250 g"
"""A text that the vocabularies cut differently, for prompts that all of them cut alike."""

FAMILIES: Mapping[str, str] = {"byte-level": "byte-level BPE", "metaspace": "SentencePiece"}
"""What people call a vocabulary, by how it writes text."""


@dataclass(frozen=True)
class Cutting:
    """One text under one vocabulary."""

    name: str
    family: str
    size: int
    """Number of ids."""
    tokens: Sequence[Token]


def show_counts(text: str, cuttings: Sequence[Cutting]) -> None:
    """Draw one line per vocabulary: family, size, how many tokens the text has."""
    st.dataframe(
        pd.DataFrame(
            {
                "vocabulary": [cutting.name for cutting in cuttings],
                "family": [cutting.family for cutting in cuttings],
                "ids": [cutting.size for cutting in cuttings],
                "tokens": [len(cutting.tokens) for cutting in cuttings],
                "characters per token": [
                    len(text) / len(cutting.tokens) if cutting.tokens else 0.0
                    for cutting in cuttings
                ],
            }
        ),
        hide_index=True,
        width="stretch",
        column_config={
            "ids": st.column_config.NumberColumn(format="localized"),
            "tokens": st.column_config.ProgressColumn(
                format="%d",
                min_value=0,
                max_value=max(max(len(cutting.tokens) for cutting in cuttings), 1),
            ),
            "characters per token": st.column_config.NumberColumn(format="%.2f"),
        },
        key="vocabulary_counts",
    )


@st.fragment
def show_cuts(
    text: str, cuttings: Sequence[Cutting], disputed: Container[int], *, key: str
) -> None:
    """Draw the cuts under each other; a long text in parts of `COLUMNS` characters.

    Args:
        text: the whole text.
        cuttings: the same text under each vocabulary.
        disputed: places where only some of them cut.
        key: unique on the page.
    """
    parts = max(1, -(-len(text) // COLUMNS))
    part = 1
    if parts > 1:
        name = f"Part of the text ({COLUMNS} characters each)"
        part = int(st.number_input(name, 1, parts, 1, key=f"{key}_part"))
    first = (part - 1) * COLUMNS
    last = min(first + COLUMNS, len(text))
    front = 0 if first else ahead(cuttings)
    rows = [character_row(text, first, last, front=front)]
    for cutting in cuttings:
        row = token_row(
            cutting.name,
            cutting.tokens,
            first=first,
            last=last,
            disputed=disputed,
            note=counted(len(cutting.tokens), "token"),
            front=front,
        )
        rows.append(row)
    columns = front + last - first
    piece_table(rows, columns, key=key, label="The same text under several vocabularies")
    places = sum(place in disputed for place in range(first, last))
    where = "in this part" if parts > 1 else "in this text"
    st.caption(
        f"An orange edge marks a cut that not all of them make: {counted(places, 'place')} {where}."
        f" Hover for ids and bytes. {legend(cell.text for row in rows for cell in row.cells)}"
    )


def headline(text: str, cuttings: Sequence[Cutting]) -> str:
    """Say what the vocabularies make of the text, as Markdown."""
    counts = sorted(len(cutting.tokens) for cutting in cuttings)
    few, most = counts[0], counts[-1]
    spread = f"{few:,} to {most:,} tokens" if few < most else counted(few, "token")
    return (
        f"**{markdown(visible(text, limit=60))} is {spread}**, depending on which of "
        f"{len(cuttings)} models reads it. An id of one means nothing to another."
    )
