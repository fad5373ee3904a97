"""Stop strings: cut before the first one, whatever pieces the text comes in."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.basics.errors import EngineError
from engine.generation.stop_strings import StopStrings


def run(pieces, strings):
    stops = StopStrings(strings)
    shown = [stops.push(piece) for piece in pieces]
    return [*shown, stops.flush()], stops.found


@pytest.mark.parametrize(
    ("pieces", "strings", "shown", "found"),
    [
        (["a STOP b"], ["STOP"], ["a ", ""], "STOP"),
        (["a S", "TO", "P b", "c"], ["STOP"], ["a ", "", "", "", ""], "STOP"),
        # The beginning of a match is held back, and released when it fails.
        (["a S", "TO", "Re"], ["STOP"], ["a ", "", "STORe", ""], None),
        # What fails can be the beginning of the next attempt.
        (["aa", "ab"], ["aab"], ["", "a", ""], "aab"),
        (["ab", "abac"], ["abac"], ["", "ab", ""], "abac"),
        # The end of the text releases what was held.
        (["x\n", "\n"], ["\n\n\n"], ["x", "", "\n\n"], None),
        # The first that is complete ends the text, although a longer one had begun before.
        (["abcd"], ["abcd", "bc"], ["a", ""], "bc"),
        # Of two that end together the longer one.
        (["xabc"], ["bc", "abc"], ["x", ""], "abc"),
        (["STOP", "more"], ["STOP"], ["", "", ""], "STOP"),
        (["plain"], [], ["plain", ""], None),
        (["<b>", "*x*"], "<b>*", ["", "", ""], "<b>*"),
        (["👩", "‍👩"], ["‍"], ["👩", "", ""], "‍"),
    ],
)
def test_examples(pieces, strings, shown, found):
    assert run(pieces, strings) == (shown, found)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.text("ab\n", max_size=30),
    st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3),
    st.lists(st.integers(0, 30), max_size=8),
)
def test_the_result_does_not_depend_on_the_pieces(text, strings, cuts):
    ends = [
        (end, -len(string), string)
        for end in range(len(text) + 1)
        for string in strings
        if text[:end].endswith(string)
    ]
    end, minus_length, expected_found = min(ends, default=(len(text), 0, None))
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(edges)]
    shown, found = run(pieces, strings)
    assert "".join(shown) == text[: end + minus_length]
    assert found == expected_found


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text("ab", max_size=12), st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
def test_no_more_is_held_back_than_could_become_a_match(text, strings):
    stops = StopStrings(strings)
    shown = ""
    for end, character in enumerate(text, 1):
        shown += stops.push(character)
        if stops.found is not None:
            return
        held = text[len(shown) : end]
        assert not held or any(s.startswith(held) and s != held for s in strings)


@pytest.mark.parametrize("bad", [[""], ["a", ""], [7], [None]])
def test_an_empty_stop_string_is_refused(bad):
    with pytest.raises(EngineError, match="at least one character"):
        StopStrings(bad)
