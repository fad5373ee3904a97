"""Values from a link: taken, clamped or refused, and said."""

import pytest

from components.link.check import check_link
from components.link.keys import LIMITS, limit


def test_a_good_link_changes_nothing():
    assert check_link({"temperature": "0.7", "top_k": "40", "seed": "123"}) == ({}, [])


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("temperature", "99", 2.0),
        ("temperature", "-1", 0.0),
        ("top_k", "70000", 200),
        ("top_p", "1.5", 1.0),
        ("min_p", "-0.1", 0.0),
        ("repetition_penalty", "0", 0.5),
        ("seed", "-5", 0),
    ],
)
def test_a_number_out_of_range_is_clamped_and_said(key, text, value):
    changed, notices = check_link({key: text})
    assert changed == {key: value}
    assert text in notices[0]
    assert str(value) in notices[0]


@pytest.mark.parametrize("text", ["abc", "nan", "inf", "", "1e999", "0x10", "<b>1</b>"])
def test_what_is_no_number_becomes_the_default(text):
    wrong = {}
    for entry in LIMITS:
        changed, notices = check_link({entry.key: text})
        if (changed, len(notices)) != ({entry.key: entry.number(entry.default)}, 1):
            wrong[entry.key] = (changed, notices)
    assert wrong == {}


def test_a_broken_whole_number_becomes_the_default():
    assert check_link({"top_k": "2.5"})[0] == {"top_k": 0}


def test_unknown_parameters_are_left_alone():
    assert check_link({"utm_source": "x", "prompt": "99"}) == ({}, [])


def test_whole_numbers_come_as_int_and_others_as_float():
    assert isinstance(limit("top_k").number(3.0), int)
    assert isinstance(limit("temperature").number(1), float)
