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

LINES = 10
"""The most steps that are drawn at once: the last ones."""
PRE_TOKEN = "pre_token"
STEP = "merge_step"

Piece = Callable[[str], tuple[bytes, int | None]]
"""Raw vocabulary form -> its bytes and its id."""


def choose_word(
    words: Sequence[MergeSteps], chosen: int, text: str, on_choose: Callable[[int], None]
) -> None:
    """Draw the pre-tokens as a list to choose from.

    Args:
        words: all pre-tokens of the text.
        chosen: the number of the one that is shown.
        text: the whole text.
        on_choose: called with the number of another one.
    """
    near = range(max(0, chosen - 100), min(len(words), chosen + 100))
    st.session_state[PRE_TOKEN] = chosen

    def name(number: int) -> str:
        word = words[number]
        pieces = len(word.pieces)
        signs = visible(text[word.start : word.end], limit=40)
        return f"{number}: {signs} ({counted(pieces, 'token')})"

    st.selectbox(
        f"Pre-token, one of {len(words):,}",
        near,
        format_func=name,
        key=PRE_TOKEN,
        on_change=lambda: on_choose(st.session_state[PRE_TOKEN]),
        help="Text is first split into words, numbers and signs (pre-tokens). Pieces never reach "
        "across their borders.",
    )


@st.fragment
def show_steps(word: MergeSteps, piece: Piece) -> None:
    """Draw the steps of one pre-token up to the one that the slider stands at."""
    count = len(word.steps)
    if word.whole or word.capped or not count:
        st.markdown(_without_steps(word))
        shown = 0
    else:
        if st.session_state.get(STEP, count) > count:
            st.session_state[STEP] = count
        st.session_state.setdefault(STEP, count)
        shown = int(st.slider("Merges done", 0, count, key=STEP)) if count > 1 else count
        st.markdown(sentence(word, shown, piece))
    columns = min(len(word.symbols), COLUMNS)
    piece_table(
        rows(word, shown, piece, columns), columns, key="merges", label="Merges step by step"
    )
    if len(word.symbols) > COLUMNS:
        st.caption(f"The first {COLUMNS} of {len(word.symbols):,} symbols are drawn.")


def _without_steps(word: MergeSteps) -> str:
    if word.capped:
        return (
            f"This pre-token has {len(word.symbols):,} symbols; steps are written out up to 512, "
            f"because their number grows as the square. The end is known all the same: "
            f"{len(word.pieces):,} tokens."
        )
    if word.whole:
        return "It is in the vocabulary as a whole, so nothing was merged."
    return "No pair of its symbols is in the list of merges: the symbols are the tokens."


def sentence(word: MergeSteps, shown: int, piece: Piece) -> str:
    """Say what the step at the slider did."""
    if shown == 0:
        return f"It starts as {len(word.symbols)} symbols, one a byte. Nothing is merged yet."
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
    """Return the start and the last steps up to `shown`, one row each.

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
