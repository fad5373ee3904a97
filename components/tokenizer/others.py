"""Tokenizer page: the same text under other models' vocabularies, cuts under each other."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from components.tokenizer.piece_table import COLUMNS, piece_table
from components.tokenizer.rows import character_row, token_row

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Token


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
        note = f"{count:,} token{'' if count == 1 else 's'}"
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
