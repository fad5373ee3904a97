"""The same text under several vocabularies: tokens as rows over the characters that they cover."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from components.kit.text import counted, visible
from components.kit.theme import token_colour
from components.tokenizer.card import groups
from components.tokenizer.piece_table import COLUMNS, Cell, Row, piece_table

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
    """Draw one line a vocabulary: family, size, how many tokens the text has."""
    st.dataframe(
        pd.DataFrame(
            {
                "vocabulary": [cutting.name for cutting in cuttings],
                "family": [cutting.family for cutting in cuttings],
                "ids": [cutting.size for cutting in cuttings],
                "tokens": [len(cutting.tokens) for cutting in cuttings],
                "characters a token": [
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
            "characters a token": st.column_config.NumberColumn(format="%.2f"),
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
    rows = [character_row(text, first, last)]
    for cutting in cuttings:
        count = len(cutting.tokens)
        note = counted(count, "token")
        rows.append(
            token_row(
                cutting.name, cutting.tokens, first=first, last=last, disputed=disputed, note=note
            )
        )
    piece_table(rows, last - first, key=key, label="The same text under several vocabularies")
    places = sum(place in disputed for place in range(first, last))
    where = "in this part" if parts > 1 else "in this text"
    st.caption(
        f"An orange edge marks a cut that not all of them make: {places} places {where}. "
        "×3 is a character that takes three tokens; hover for ids and bytes."
    )
