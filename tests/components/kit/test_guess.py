"""Questions to guess: options that differ and give nothing away, and the right one among them."""

import pytest

from components.kit.guess import Guess, named, numbers, ranged


def test_numbers_climb_and_are_made_up_where_they_are_few():
    guess = numbers("How many?", 7, (7, 7, 3), "Seven.")
    assert guess.options == ("3", "7", "8", "9")
    assert guess.options[guess.right] == "7"
    assert numbers("?", 0, (), "", least=0).options == ("0", "1", "2", "3")
    assert numbers("?", 2000, (1, 50, 9, 4), "").options == ("1", "9", "50", "2,000")


def test_names_are_in_alphabetical_order_and_too_few_are_no_question():
    guess = named("Which?", "·tea", ("·coffee", "·tea", "·Ale", "·milk", "·beer"), "")
    assert guess is not None
    assert guess.options == ("·Ale", "·coffee", "·milk", "·tea")
    assert guess.options[guess.right] == "·tea"
    assert named("Which?", "a", ("a", "b"), "") is None


@pytest.mark.parametrize(("value", "right"), [(0.5, 0), (1, 1), (9.9, 1), (10, 2), (1e9, 2)])
def test_a_range_holds_its_lower_end(value, right):
    guess = ranged("Where?", value, ((1, "low"), (10, "middle"), (0, "high")), "")
    assert guess.right == right


def test_options_that_are_equal_or_missing_are_refused():
    for options, right in ((("a", "a", "b"), 0), (("a", "b"), 0), (("a", "b", "c"), 3)):
        with pytest.raises(ValueError, match=r"(?i)option"):
            Guess("?", options, right, "")
