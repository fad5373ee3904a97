"""Rows of pieces over one line of characters, each piece as wide as what it covers.

Merges step by step, and the same text under several vocabularies, are such rows: cuts at the same
place stand under each other. It is a real table, so a screen reader walks it and text can be
copied. Every text goes to the browser as text, never as markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from components.kit.browser import component
from components.kit.theme import TOKEN_COLOURS

COLUMNS = 60
"""The most columns of one table: wider texts are shown in parts."""

LARGE = 14
"""Up to this many columns are drawn larger."""

_COMPONENT = component("tokenizer/piece_table", '<div class="pieces"></div>')


@dataclass(frozen=True)
class Cell:
    """One piece."""

    start: int
    end: int
    """The columns that it covers: from `start`, up to before `end`."""
    text: str
    """What stands in it, already visible."""
    colour: int | None = None
    """Index in `theme.TOKEN_COLOURS`; None for a cell without colour."""
    title: str = ""
    """Shown on hover."""
    strong: bool = False
    """Whether it is framed: a piece that was just merged."""
    disputed: bool = False
    """Whether its left edge is marked: other rows do not cut there."""


@dataclass(frozen=True)
class Row:
    """One line of pieces, which cover its columns without gap."""

    label: str
    cells: tuple[Cell, ...]
    note: str = ""
    """A few words after the label."""


def piece_table(rows: Sequence[Row], columns: int, *, key: str, label: str) -> None:
    """Draw the rows.

    Args:
        rows: at least one; each covers the columns 0 to `columns`.
        columns: how many columns there are.
        key: unique on the page.
        label: the table's name, for screen readers.

    Raises:
        ValueError: a row leaves a gap, overlaps or ends elsewhere.
    """
    for row in rows:
        edges = [0, *(cell.end for cell in row.cells)]
        if [cell.start for cell in row.cells] != edges[:-1] or edges[-1] != columns:
            raise ValueError(f"The pieces of row {row.label!r} do not cover 0 to {columns}.")
    _COMPONENT(key=key, data={**payload(rows, label), "large": columns <= LARGE})


def payload(rows: Sequence[Row], label: str) -> dict[str, Any]:
    """Return what the browser needs (short names: there are many cells)."""
    return {
        "label": label,
        "colours": list(TOKEN_COLOURS),
        "rows": [
            {"l": row.label, "n": row.note, "c": [_message(cell) for cell in row.cells]}
            for row in rows
        ],
    }


def _message(cell: Cell) -> dict[str, Any]:
    message: dict[str, Any] = {"w": cell.end - cell.start, "t": cell.text}
    if cell.colour is not None:
        message["h"] = cell.colour % len(TOKEN_COLOURS)
    if cell.title:
        message["d"] = cell.title
    if cell.strong:
        message["s"] = True
    if cell.disputed:
        message["x"] = True
    return message
