"""Prompt lookup: what it finds in the text so far, and how sure it is of it."""

import pytest

from engine.generation.random_numbers import random_numbers
from engine.sampling.settings import SamplingSettings
from engine.speculative.drafts import PromptLookup, continuation


@pytest.mark.parametrize(
    ("text", "k", "expected"),
    [
        ([1, 2, 3, 9, 1, 2, 3], 2, [9, 1]),
        ([1, 2, 3, 9, 1, 2, 3], 9, [9, 1, 2, 3]),
        ([1, 2, 3, 4], 3, []),
        ([5, 5], 3, [5]),
        ([7], 3, []),
        # Of two places with the longest ending the later one counts.
        ([1, 2, 8, 1, 2, 9, 1, 2], 1, [9]),
        # A longer ending beats a later, shorter one.
        ([3, 1, 2, 8, 2, 9, 3, 1, 2], 1, [8]),
    ],
)
def test_lookup_finds_what_followed_before(text, k, expected):
    assert continuation(text, k) == expected


def test_lookup_is_certain_of_its_guess_and_stops_after_an_end_token():
    draft = PromptLookup(10, frozenset({4}))
    proposals = draft.propose([1, 2, 3, 4, 5, 1, 2], 4, SamplingSettings(), random_numbers(0))
    assert [one.id for one in proposals] == [3, 4]
    assert all(one.q[one.id] == 1 and one.q.sum() == 1 for one in proposals)
