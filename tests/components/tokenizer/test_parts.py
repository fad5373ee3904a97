"""What the tokenizer page says and draws, from plain tokens."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from components.tokenizer import card, chat, depth, merges, others
from components.tokenizer.others import Cutting, ahead, character_row, token_row
from components.tokenizer.piece_table import Cell, Row, payload, piece_table
from components.tokenizer.signs import legend


@dataclass(frozen=True)
class Token:
    """What the components read of a token."""

    id: int
    piece: str
    data: bytes
    start: int
    end: int
    special: bool = False


@dataclass(frozen=True)
class Step:
    left: str
    right: str
    rank: int
    index: int
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Steps:
    symbols: tuple[str, ...]
    steps: tuple[Step, ...]
    pieces: tuple[str, ...]
    start: int = 0
    end: int = 0
    whole: bool = False
    capped: bool = False


# "a🤗b" where the emoji takes three tokens, the first one with the letter before it.
HUG = (
    Token(1, "aðŁ", b"a\xf0\x9f", 0, 2),
    Token(2, "¤", b"\xa4", 1, 2),
    Token(3, "Ĺ", b"\x97", 1, 2),
    Token(4, "b", b"b", 2, 3),
)


def test_totals_count_characters_bytes_and_tokens():
    counted = card.totals("a🤗b", HUG)
    assert (counted.characters, counted.bytes, counted.tokens, counted.distinct) == (3, 6, 4, 4)
    assert counted.characters_a_token == 0.75
    assert card.totals("", ()).characters_a_token == 0


def test_tokens_that_share_a_character_are_one_group():
    assert card.groups(HUG) == [(0, 3), (3, 4)]
    assert [card.sharing(HUG, index) for index in range(4)] == [(0, 3)] * 3 + [(3, 4)]


def test_coverage_says_how_many_tokens_a_character_needs():
    assert "needs 3 tokens" in card.coverage(HUG, 1)
    assert r"61 F0 9F \| A4 \| 97" in card.coverage(HUG, 1)
    assert card.coverage(HUG, 3) == "One token covers 1 character."
    nothing = Token(0, "<s>", b"", 0, 0, special=True)
    assert "no character" in card.coverage([nothing], 0)


def test_a_shared_character_is_one_cell_that_says_how_many():
    row = token_row("x", HUG, last=3)
    assert [(cell.start, cell.end, cell.text) for cell in row.cells] == [(0, 2, "×3"), (2, 3, "b")]
    assert "bytes A4" in row.cells[0].title


def test_characters_without_a_token_leave_an_empty_cell():
    tokens = [Token(1, "a", b"a", 0, 1), Token(2, "b", b"b", 2, 3)]
    cells = token_row("x", tokens, last=4).cells
    assert [(c.start, c.end, c.text) for c in cells] == [
        (0, 1, "a"),
        (1, 2, ""),
        (2, 3, "b"),
        (3, 4, ""),
    ]


def test_a_window_cuts_the_cells_at_its_edges():
    tokens = [Token(1, "abcd", b"abcd", 0, 4), Token(2, "efgh", b"efgh", 4, 8)]
    cells = token_row("x", tokens, first=2, last=6, disputed={4}).cells
    assert [(c.start, c.end, c.disputed) for c in cells] == [(0, 2, False), (2, 4, True)]
    assert [c.text for c in character_row("abcdefgh", 2, 6).cells] == list("cdef")


def test_a_token_that_covers_nothing_has_a_box_in_front_so_that_boxes_are_as_many_as_tokens():
    tokens = [Token(9, "▁", b"", 0, 0), *(Token(n, "1", b"1", n, n + 1) for n in range(4))]
    bare = tokens[1:]
    cuttings = [Cutting("x", "f", 10, bare), Cutting("y", "f", 10, tokens)]
    front = ahead(cuttings)
    assert front == 1
    row = token_row("y", tokens, last=4, front=front)
    assert len([cell for cell in row.cells if cell.colour is not None]) == len(tokens)
    assert [(cell.start, cell.end, cell.text) for cell in row.cells][:2] == [
        (0, 1, "▁"),
        (1, 2, "1"),
    ]
    other = token_row("x", bare, last=4, front=front)
    assert other.cells[0].text == ""
    assert other.cells[1].start == 1
    assert character_row("2024", front=front).cells[-1].end == 5
    assert ahead([Cutting("x", "f", 10, bare)]) == 0


def test_the_headline_counts_from_the_least_to_the_most():
    one, two = Token(1, "ab", b"ab", 0, 2), [Token(2, "a", b"a", 0, 1), Token(3, "b", b"b", 1, 2)]
    cuttings = [Cutting("x", "f", 10, [one]), Cutting("y", "f", 10, two)]
    assert "**ab is 1 to 2 tokens**" in others.headline("ab", cuttings)
    assert "**ab is 1 token**" in others.headline("ab", cuttings[:1])


def test_the_legend_explains_the_signs_that_are_there_and_no_others():
    assert legend(["·the", "Ġthe"]) == (
        "Signs: · a space; Ġ how this vocabulary writes a space in front."
    )
    assert "a line break" in legend(["a⏎"])
    assert "so many tokens" in legend(["×3"])
    assert legend(["the"]) == ""


def test_a_table_with_a_gap_is_refused():
    with pytest.raises(ValueError, match="do not cover"):
        piece_table([Row("r", (Cell(0, 1, "a"), Cell(2, 3, "b")))], 3, key="k", label="l")


def test_the_browser_gets_short_plain_messages():
    sent = payload([Row("r", (Cell(0, 2, "<b>", 3, "t", strong=True, disputed=True),), "n")], "l")
    assert sent["rows"] == [
        {"l": "r", "n": "n", "c": [{"w": 2, "t": "<b>", "h": 3, "d": "t", "s": True, "x": True}]}
    ]


LOWER = Steps(
    symbols=tuple("lower"),
    steps=(
        Step("l", "o", 0, 0, ("lo", "w", "e", "r")),
        Step("lo", "w", 1, 0, ("low", "e", "r")),
        Step("e", "r", 2, 1, ("low", "er")),
    ),
    pieces=("low", "er"),
)


def piece(raw):
    return raw.encode(), {"low": 7}.get(raw)


def test_each_step_is_a_row_with_its_merged_piece_framed():
    rows = merges.rows(LOWER, 3, piece, 5)
    assert [row.label for row in rows] == ["start", "merge 1", "merge 2", "merge 3"]
    assert [row.note for row in rows] == ["", "rank 0", "rank 1", "rank 2"]
    assert [(c.start, c.end, c.text) for c in rows[-1].cells] == [(0, 3, "low"), (3, 5, "er")]
    assert [cell.strong for cell in rows[-1].cells] == [False, True]
    assert rows[-1].cells[0].colour is not None
    assert rows[-1].cells[1].colour is None


def test_a_long_ladder_says_which_merges_are_left_out():
    step = Step("l", "o", 0, 0, ("lower",))
    word = Steps(symbols=tuple("lower"), steps=(step,) * 70, pieces=("lower",))
    labels = [row.label for row in merges.rows(word, 70, piece, 5)]
    assert labels[:3] == ["start", "merges 1 to 10", "merge 11"]
    assert labels[-1] == "merge 70"


def test_the_longest_word_is_the_first_of_several():
    words = [Steps((), (), (), 0, 3), Steps((), (), (), 3, 9), Steps((), (), (), 9, 15)]
    assert merges.longest(words) == 1
    assert merges.longest([]) == 0


def test_a_wide_word_is_cut_at_the_last_column():
    cells = merges.rows(LOWER, 3, piece, 2)[-1].cells
    assert [(cell.start, cell.end) for cell in cells] == [(0, 2)]


def test_a_symbol_of_several_letters_takes_one_column():
    word = Steps(("<0xE2>", "a"), (), ("<0xE2>", "a"))
    cells = merges.rows(word, 0, piece, 2)[0].cells
    assert [(cell.start, cell.end) for cell in cells] == [(0, 1), (1, 2)]


def test_the_sentence_names_the_step():
    assert "It starts as 5 symbols" in merges.sentence(LOWER, 0, piece)
    said = merges.sentence(LOWER, 2, piece)
    assert "**lo** and **w**" in said
    assert "rank 1" in said
    assert "No other pair" not in said
    assert "No other pair" in merges.sentence(LOWER, 3, piece)


def test_a_turn_is_split_around_the_users_words():
    tokens = [Token(n, "x", b"xx", 2 * n, 2 * n + 2) for n in range(4)]
    parts = chat.split_at(tokens, (2, 5))
    assert [[token.id for token in part] for part in parts] == [[0], [1, 2], [3]]
    assert chat.split_at(tokens, (2, 2)) == (tokens[:1], [], tokens[1:])


def test_tasks_are_met_by_what_they_ask_for():
    def done(text, tokens):
        counted = card.totals(text, tokens)
        return [task.done for task in depth.tasks(counted, tokens)]

    digits = [Token(n, "1", b"1", n, n + 1) for n in range(12)]
    twice = [Token(1, "a", b"a", 0, 1), Token(2, "Ġa", b" a", 1, 3)]
    assert done("a🤗b", HUG) == [True, False, False]
    assert done("a a", twice) == [False, True, False]
    assert done("1" * 12, digits) == [False, False, True]
    assert done("", []) == [False, False, False]


def test_the_card_counts_the_tokens_of_what_readers_take_for_one_character():
    text = "e\u0301x"
    tokens = [Token(n, char, char.encode(), n, n + 1) for n, char in enumerate(text)]
    assert "takes 2 tokens" in card._cluster_note(tokens, 0)
    assert "takes 2 tokens" in card._cluster_note(tokens, 1)
    assert card._cluster_note(tokens, 2) == ""
    assert all(card._cluster_note(HUG, index) == "" for index in range(4))
    many = [Token(1, "a", b"a", n, n + 1) for n in range(500)]
    assert card._cluster_note(many, 499) == ""
