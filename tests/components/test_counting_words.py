"""What is counted agrees with its number: 1 token and 2 tokens, also inside sentences."""

import pytest

from components.generation import detokenizer
from components.kit.text import counted
from components.kv_cache.costs import cost_lanes, cost_lines, cost_words
from components.sampling.cards import window_words
from engine.generation.releases import Ending, Release
from engine.kv_cache.step_costs import StepCost

ONE = Release(b"a", b"", "a", "", "a", None)
NUMBERS = [(0, "0 tokens"), (1, "1 token"), (2, "2 tokens"), (1536, "1,536 tokens")]


def costs(count, tokens):
    return [
        StepCost(
            i,
            tokens + i,
            with_cache=100.0,
            without_cache=200.0,
            cache_bytes=80,
            difference=1e-6,
            best_id=7,
            same_choice=True,
        )
        for i in range(count)
    ]


@pytest.mark.parametrize(("count", "words"), NUMBERS)
def test_a_number_and_its_word(count, words):
    assert counted(count, "token") == words


@pytest.mark.parametrize(("count", "words"), [(1, "0 of 1 token let"), (2, "0 of 2 tokens let")])
def test_the_detokenizer_counts_what_came(count, words):
    assert words in detokenizer.summary([ONE] * count, Ending(b"", ""))


def test_a_window_of_one_token_is_the_last_token():
    assert window_words(1) == "the last token"
    assert window_words(2) == "the last 2 tokens"
    assert window_words(0) == "the text so far"


@pytest.mark.parametrize("number", [1, 2])
def test_costs_of_one_step_on_a_prompt_of_one_token(number):
    found = costs(number, number)
    tokens = "1 token" if number == 1 else "2 tokens"
    assert cost_lanes(found, [b"a"] * number, key="k").layout.title.text.startswith(f"{tokens}: ")
    assert cost_lines(found, key="k").layout.title.text.startswith(f"Prefill of {tokens}: ")
    assert ("of 1 step;" if number == 1 else "of 2 steps;") in cost_words(found)
