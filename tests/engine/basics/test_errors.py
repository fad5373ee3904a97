"""What does not exist is named, with what there is; a prompt must be there and must fit."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.basics.errors import EngineError, check_index, checked_ids, checked_prompt

SIZES = SimpleNamespace(vocabulary=384, context=8)


@pytest.mark.parametrize("value", [0, 4, np.int64(3)])
def test_what_exists_comes_back_as_a_plain_int(value):
    found = check_index("layer", value, 5)
    assert found == value
    assert type(found) is int


def test_negative_numbers_count_from_the_end_only_where_asked():
    assert check_index("position", -1, 5, from_end=True) == 4
    assert check_index("position", -5, 5, from_end=True) == 0
    with pytest.raises(EngineError, match="no position -6: choose one from 0 to 4"):
        check_index("position", -6, 5, from_end=True)


@pytest.mark.parametrize("value", [5, -1, 1.0, "1", None, True, float("nan")])
def test_anything_else_is_named(value):
    with pytest.raises(EngineError, match=r"There is no layer .*: choose one from 0 to 4\."):
        check_index("layer", value, 5)


def test_ids_come_back_as_plain_ints_and_may_be_none_at_all():
    found = checked_ids(np.array([3, 383]), 384)
    assert found == [3, 383]
    assert {type(token_id) for token_id in found} == {int}
    assert checked_ids([], 384) == []
    with pytest.raises(EngineError, match="no token id 384: choose one from 0 to 383"):
        checked_ids([0, 384], 384)


def test_a_prompt_fits_with_the_room_that_is_asked_for():
    assert checked_prompt(range(8), SIZES) == list(range(8))
    assert checked_prompt(range(5), SIZES, room=3) == list(range(5))
    with pytest.raises(EngineError, match="has 9 tokens and the model takes 8 at most: shorten"):
        checked_prompt(range(9), SIZES)
    with pytest.raises(EngineError, match=r"has 6 tokens .* leaves no room for 3 more: shorten"):
        checked_prompt(range(6), SIZES, room=3)


def test_a_prompt_has_tokens_and_only_those_of_the_vocabulary():
    with pytest.raises(EngineError, match="no tokens to read: type at least one character"):
        checked_prompt([], SIZES)
    with pytest.raises(EngineError, match="no token id -1"):
        checked_prompt([-1], SIZES)
