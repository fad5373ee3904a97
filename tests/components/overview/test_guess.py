"""What is said of a guess and of the token that came."""

import pytest

from components.overview.guess import outcome
from engine.lm_head.standing import Standing

STEAMING = Standing(7, b" steaming", 4, 49_152, 0.036, 1)
TEA = Standing(9, b" tea", 3, 49_152, 0.12, 1)
BLACK = Standing(5, b" black", 2, 49_152, 0.124, 3)


@pytest.mark.parametrize(
    ("guess", "typed", "said"),
    [
        (None, "", "·steaming came: number 4, 3.6 %. Which word do you expect next?"),
        (
            TEA,
            "tea",
            "Your guess ·tea was number 3 of 49,152, 12 %. ·steaming came: number 4, 3.6 %.",
        ),
        (STEAMING, "steaming", "Your guess ·steaming was number 4 of 49,152, 3.6 %, and it came."),
        (
            BLACK,
            "black**currant**",
            "“black**currant**” takes 3 tokens; its first, ·black, was number 2 of 49,152, 12 %. "
            "·steaming came: number 4, 3.6 %.",
        ),
    ],
)
def test_the_guess_and_the_token_stand_side_by_side(guess, typed, said):
    assert outcome(STEAMING, guess, typed) == said


def test_a_first_piece_that_came_is_said():
    said = outcome(BLACK, BLACK, "blackcurrant")
    assert said.endswith("was number 2 of 49,152, 12 %, and that first one came.")
