"""Tokenizer page: byte-pair encoding of one pre-token, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import counted, markdown, visible
from components.kit.theme import token_colour
from components.tokenizer.piece_table import COLUMNS, Cell, Row, piece_table

if TYPE_CHECKING:
    from engine.tokenizer.bpe import MergeSteps

LINES = 60
"""The most steps that are drawn at once; of more the last ones, and how many are left out is said.
"""
STEP = "merge_step"
"""Beginning of the slider's key; each pre-token has its own, which starts at the last step."""

Piece = Callable[[str], tuple[bytes, int | None]]
"""Raw vocabulary form -> its bytes and its id."""


@st.fragment
def show_steps(word: MergeSteps, piece: Piece, *, name: str, number: int) -> None:
    """Draw the steps of one pre-token up to the one that the slider stands at.

    Args:
        word: the pre-token.
        piece: gives bytes and id of a raw form.
        name: its text.
        number: which pre-token of the text it is; each starts with all of its merges.
    """
    count = len(word.steps)
    shown = 0 if word.whole or word.capped else count
    st.markdown(f"##### {markdown(visible(name, limit=40))}: {_summary(word)}")
    if shown > 1:
        key = f"{STEP}_{number}_{count}"
        shown = int(st.slider("Merges done", 0, count, count, key=key))
    columns = min(len(word.symbols), COLUMNS)
    with st.container(height=430 if shown > 12 else "content", border=False):
        piece_table(
            rows(word, shown, piece, columns), columns, key="merges", label="Merges step by step"
        )
    if len(word.symbols) > COLUMNS:
        st.caption(f"The first {COLUMNS} of {len(word.symbols):,} symbols are drawn.")
    st.markdown(sentence(word, shown, piece) if count else _without_steps(word))
    st.caption(
        "A text is first split into words, numbers and signs (pre-tokens); pieces never reach "
        "across their borders. A merge's rank is its place in the list that was learned once: "
        "rank 0 was the most frequent pair."
    )


def _summary(word: MergeSteps) -> str:
    """Say in a few words how the pre-token became tokens."""
    tokens = counted(len(word.pieces), "token")
    if word.whole or word.capped or not word.steps:
        return tokens
    symbols, merges = counted(len(word.symbols), "byte"), counted(len(word.steps), "merge")
    return f"{symbols}, {merges}, {tokens}"


def longest(words: Sequence[MergeSteps]) -> int:
    """Return the number of the longest pre-token, the first of several; 0 without any."""
    return max(range(len(words)), key=lambda n: words[n].end - words[n].start, default=0)


def _without_steps(word: MergeSteps) -> str:
    if word.capped:
        return (
            f"This pre-token has {len(word.symbols):,} symbols; steps are written out up to 512, "
            f"because their number grows as the square. The end is known all the same: "
            f"{counted(len(word.pieces), 'token')}."
        )
    if word.whole:
        return "It is in the vocabulary as a whole, so nothing was merged."
    return "No pair of its symbols is in the list of merges: the symbols are the tokens."


def sentence(word: MergeSteps, shown: int, piece: Piece) -> str:
    """Say what the step at the slider did."""
    if shown == 0:
        symbols = counted(len(word.symbols), "symbol")
        return f"It starts as {symbols}, one per byte. Nothing is merged yet."
    step = word.steps[shown - 1]
    left, right, both = (
        markdown(visible(piece(part)[0]))
        for part in (step.left, step.right, step.left + step.right)
    )
    ending = (
        " No other pair is in the list: these are the tokens." if shown == len(word.steps) else ""
    )
    return (
        f"Merge {shown} of {len(word.steps)}: of all neighbours, **{left}** and **{right}** stand "
        f"earliest in the list (rank {step.rank:,}), so they become **{both}**. "
        f"{counted(len(step.pieces), 'piece')} left.{ending}"
    )


def rows(word: MergeSteps, shown: int, piece: Piece, columns: int) -> list[Row]:
    """Return the start and the steps up to `shown`, one row each.

    Args:
        word: the pre-token.
        shown: how many steps are done.
        piece: gives bytes and id of a raw form.
        columns: how many symbols are drawn.
    """
    # A symbol is one character of the raw form, or a whole token that is no product of merges.
    widths = [len(symbol) for symbol in word.symbols]
    drawn = [_row("start", word.symbols, widths, piece, columns, None)]
    steps = list(enumerate(word.steps[:shown], start=1))
    left_out = len(steps) - LINES
    if left_out > 0:
        label = "merge 1" if left_out == 1 else f"merges 1 to {left_out:,}"
        drawn.append(Row(label, (Cell(0, columns, "…"),), "not drawn"))
    for number, step in steps[-LINES:]:
        label = f"merge {number}"
        drawn.append(
            _row(label, step.pieces, widths, piece, columns, step.index, f"rank {step.rank:,}")
        )
    if not steps and (word.capped or word.whole):
        drawn.append(_row("end", word.pieces, widths, piece, columns, None))
    return drawn


def _row(
    label: str,
    pieces: Sequence[str],
    widths: Sequence[int],
    piece: Piece,
    columns: int,
    merged: int | None,
    note: str = "",
) -> Row:
    cells: list[Cell] = []
    column = 0
    for index, raw in enumerate(pieces):
        if column >= columns:
            break
        end, letters = column, 0
        while letters < len(raw):
            letters += widths[end]
            end += 1
        data, token_id = piece(raw)
        name = f"id {token_id}" if token_id is not None else "no token"
        cells.append(
            Cell(
                column,
                min(end, columns),
                visible(data),
                None if token_id is None else token_colour(token_id),
                f"{visible(raw)}, {name}, bytes {data.hex(' ').upper()}",
                strong=index == merged,
            )
        )
        column = end
    return Row(label, tuple(cells), note)
