"""The ten guesses as data, and the words on what was found where a model does otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.lesson import card, check, reveals
from components.lesson.steps import FACTS, STEPS, number_of
from components.shell.stages import STAGES
from engine.lesson.reading import Cut, Expected, HeadWorth, Looking, TwoOrders
from engine.lesson.writing import FalseQuestion, Secret, Written
from engine.sampling.sharpness import load_facts


def step(key: str):
    return STEPS[number_of(key) - 1]


def test_each_step_can_be_asked_of_any_model_and_offers_the_belief_and_something_else():
    pages = {entry.key for entry in STAGES}
    for entry in STEPS:
        assert entry.page in pages
        assert 3 <= len(entry.options) <= 4
        assert {option.belief for option in entry.options} == {True, False}
        assert "%" not in entry.question
    assert len({entry.key for entry in STEPS}) == len(STEPS) == 10
    assert {entry.statement_is_true for entry in STEPS} == {True, False}
    assert len(load_facts()) == FACTS
    with pytest.raises(KeyError):
        number_of("none")


def test_a_word_has_the_option_of_its_number_of_pieces_or_none():
    for pieces, right in (
        ((b"strawberry",), 0),
        ((b"st", b"raw", b"berry"), 2),
        ((b"s",) * 5, None),
    ):
        assert reveals.tokens(Cut("strawberry", pieces, (b" x",))).right == right


def test_an_order_that_the_first_layer_notices_is_said():
    found = TwoOrders(0.02, 0.0, 0.2, " eight", " and")
    assert reveals.order(found).right == 2
    assert "0.000 %" in reveals.order(found).found
    assert reveals.order(replace(found, first_layer_untold=0.3)).right == 1


@pytest.mark.parametrize(
    ("needed", "useless", "right"),
    [(0.1, 0.77, 1), (0.1, 0.3, 0), (0.76, 0.78, 2), (0.1, 0.6, None)],
)
def test_heads_are_told_by_what_is_missing_without_them(needed, useless, right):
    found = Looking(
        b" Paris",
        0.77,
        HeadWorth(2, 1, 0.9, needed),
        HeadWorth(1, 0, 0.8, useless),
        HeadWorth(0, 3, 0.05, 0.2),
    )
    told = reveals.attention(found, "France")
    assert told.right == right
    assert "Head 1 of layer 2 gives “France” 90 %" in told.found
    assert "head 3 of layer 0 gives it only 5.0 %" in told.found


@pytest.mark.parametrize(("back", "right"), [(0.07, 2), (0.4, 1), (0.7, 0)])
def test_a_fact_backwards_is_told_by_its_share_of_the_fact_forwards(back, right):
    ahead = Expected("The capital of France is", b" Paris", 0.77, "Paris", 0.77, 1, True)
    behind = Expected("Paris is the capital of", b" the", 0.2, "France", back, 2, False)
    assert reveals.stored((ahead, behind, ahead, behind)).right == right
    assert reveals.stored((replace(ahead, is_top=False), behind, ahead, behind)).right is None


def test_a_secret_is_told_by_the_word_or_by_others_or_not_at_all():
    answers = tuple(Written(seed, (1,), "A <b>dog</b>.", True) for seed in range(2))
    for said, told, right in (
        ((False, False), (("dog",), ()), 2),
        ((False, False), ((), ()), 1),
        ((True, False), ((), ("dog",)), 0),
    ):
        assert reveals.ban(Secret("puppy", answers, said, told)).right == right


def test_most_answers_must_object_before_a_model_counts_as_objecting():
    answers = tuple(Written(seed, (1,), "No.", True) for seed in range(3))
    for objects, right in (((True, True, False), 0), ((True, False, False), 2)):
        found = reveals.wrong(FalseQuestion(answers, objects, 0.4, 0.5), None)
        assert found.right == right


def test_the_verdict_puts_the_guess_beside_what_holds():
    greedy = step("greedy")
    assert card.verdict(greedy, 2, 2) == (
        "You were right: “‘Earth’, with more than half of the probability”."
    )
    assert card.verdict(greedy, 0, 2).startswith("You said “Something true, such as ‘galaxy’”. It")
    assert card.verdict(greedy, None, 1).startswith("It is “")
    assert card.verdict(greedy, 1, None).endswith("None of the answers fits what this model does.")


def test_a_mind_is_changed_where_guess_and_statement_hold_different_beliefs():
    believer = [next(i for i, o in enumerate(entry.options) if o.belief) for entry in STEPS]
    wise = [entry.statement_is_true for entry in STEPS]
    assert check.summary(believer, wise).startswith("You changed your mind on 10 of 10. 10 of")
    stubborn = [not true for true in wise]
    assert check.summary(believer, stubborn).startswith("You changed your mind on none of 10. 0 of")
    some = [*wise[:3], *[None] * 7]
    assert check.summary([*believer[:2], *[None] * 8], some).startswith(
        "You changed your mind on 2 of 2. 3 of your 3"
    )
    assert check.summary([None] * 10, wise).startswith("Guess first")
