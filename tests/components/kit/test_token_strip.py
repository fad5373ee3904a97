"""The strip gets plain data, groups the parts of a character, and checks what comes back."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from streamlit.testing.v1 import AppTest

from components.kit.browser import checked_index
from components.kit.theme import TOKEN_COLOURS
from components.kit.token_strip import (
    WINDOW,
    TokenView,
    _message,
    token_views,
    window_start,
)


@dataclass(frozen=True)
class FakeToken:
    id: int
    piece: str
    data: bytes
    start: int = 0
    end: int = 1
    special: bool = False


def tokens(*pieces: bytes) -> list[FakeToken]:
    return [FakeToken(index, "p", piece) for index, piece in enumerate(pieces)]


def test_view_of_one_token():
    view = token_views([FakeToken(504, "Ġ<b>", b" <b>", 3, 7)], [0.25])[0]
    assert (view.text, view.piece, view.data_hex) == ("·<b>", "Ġ<b>", "20 3C 62 3E")
    assert (view.id, view.start, view.end, view.special, view.value) == (504, 3, 7, False, 0.25)
    assert 0 <= view.colour < len(TOKEN_COLOURS)
    assert view.whole is None


def test_a_token_has_the_same_colour_wherever_it_returns():
    one = token_views(tokens(b"a", b"b"))
    again = token_views(list(reversed(tokens(b"a", b"b"))))
    assert one[0].colour == again[1].colour


@pytest.mark.parametrize(
    ("pieces", "wholes"),
    [
        ([b"a", b"b"], [None, None]),
        ([b"\xf0\x9f", b"\x98\x80"], ["😀", "😀"]),
        ([b"a", b" \xf0\x9f", b"\x98", b"\x80", b"b"], [None, "·😀", "·😀", "·😀", None]),
        ([b"\xf0\x9f", b"\x98"], [None, None]),
        ([b"\xff", b"a"], [None, None]),
        ([b"\xf0", b"\xc3", b"\xa9"], [None, "é", "é"]),
        ([b"\xc3", b"\xa9", b"\xc3", b"\xa9"], ["é", "é", "é", "é"]),
        ([b"\xe2\x80", b"\x8b"], ["⟨U+200B⟩", "⟨U+200B⟩"]),
    ],
)
def test_parts_of_a_character_know_the_whole(pieces, wholes):
    views = token_views(tokens(*pieces))
    assert [view.whole for view in views] == wholes


def test_two_equal_characters_in_a_row_stay_two():
    views = token_views(tokens(b"\xc3", b"\xa9", b"\xc3", b"\xa9"))
    assert [view.first_of_whole for view in views] == [True, False, True, False]


def test_values_must_fit():
    with pytest.raises(ValueError, match="2 tokens need as many values, not 1"):
        token_views(tokens(b"a", b"b"), [0.5])


def test_message_is_plain_and_bounded():
    message = _message(TokenView(1, "t", "p", "74", 0, 1, colour=99, value=1.5, special=True))
    assert message == {
        "i": 1,
        "t": "t",
        "p": "p",
        "b": "74",
        "s": [0, 1],
        "c": 99 % len(TOKEN_COLOURS),
        "x": True,
        "v": 1.0,
        "y": "100 %",
    }


@pytest.mark.parametrize("value", [-1, 3, "1", 1.0, None, True, [], {"a": 1}])
def test_what_is_no_index_is_refused(value):
    assert checked_index(value, 3) is None


def test_an_index_is_taken():
    assert [checked_index(value, 3) for value in (0, 2)] == [0, 2]


@pytest.mark.parametrize(
    ("count", "selected", "asked", "start"),
    [
        (WINDOW, WINDOW - 1, None, 0),
        (1500, None, None, 0),
        (1500, 399, None, 0),
        (1500, 400, None, 400),
        (1500, 5, {"start": 800, "selected": 5}, 800),
        (1500, 5, {"start": 799, "selected": 5}, 400),
        (1500, 1499, {"start": 800, "selected": 5}, 1200),
        (1500, None, {"start": 800, "selected": None}, 800),
        (1500, 5, {"start": 9999, "selected": 5}, 0),
        (1500, 5, {"start": "800", "selected": 5}, 0),
        (1500, 5, "800", 0),
    ],
)
def test_window(count, selected, asked, start):
    assert window_start(count, selected, asked) == start


def test_mounts_in_an_app_and_returns_the_selection():
    def script():
        import streamlit as st

        from components.kit.token_strip import TokenView, token_strip

        views = [TokenView(i, f"t{i}", "p", "74", i, i + 1) for i in range(3)]
        st.text(str(token_strip(views, key="strip", selected=2)))
        st.text(str(token_strip(views, key="other", selected=7)))
        st.text(str(token_strip((), key="empty", selected=0)))

    at = AppTest.from_function(script).run()
    assert not at.exception
    assert [text.value for text in at.text] == ["2", "None", "None"]


def test_an_emoji_of_many_tokens_is_drawn_once():
    family = "👩\u200d👩\u200d👧\u200d👦"
    data = family.encode()
    pieces = [b"a", *(data[i : i + 1] for i in range(len(data))), b"b"]
    wholes = [view.whole for view in token_views(tokens(*pieces))]
    assert wholes == [None, *[family] * len(data), None]


def test_a_mark_belongs_to_the_letter_before():
    views = token_views(tokens(b"e", "\u0301".encode(), b"x"))
    assert [view.whole for view in views] == ["e\u0301", "e\u0301", None]


def test_bytes_that_are_no_character_stay_alone():
    views = token_views(tokens(b"\xff", b"\xa4", b"a"))
    assert [view.whole for view in views] == [None, None, None]
