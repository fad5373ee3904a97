"""What does not exist is named, with what there is."""

import numpy as np
import pytest

from engine.basics.bounds import check_index
from engine.basics.errors import EngineError


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
