"""The settings in words: everything that is not at its default, and nothing else."""

import math
from dataclasses import fields

import pytest

from engine.sampling.settings import LLAMA_CPP_ORDER, SamplingSettings, words

CASES = [
    ("temperature", 0.7, "temperature 0.7"),
    ("temperature", 0, "temperature 0"),
    ("top_k", 40, "top-k 40"),
    ("top_p", 0.0, "top-p 0"),
    ("min_p", 0.05, "min-p 0.05"),
    ("typical_p", 0.5, "typical 0.5"),
    ("repetition_penalty", 0.9, "repetition penalty 0.9"),
    ("presence_penalty", -1.5, "presence penalty -1.5"),
    ("frequency_penalty", 0.8, "frequency penalty 0.8"),
    ("penalty_window", 1, "penalties over the last token"),
    ("penalty_window", 1024, "penalties over the last 1,024 tokens"),
    ("count_prompt", True, "presence and frequency count the prompt too"),
    ("logit_bias", {7: -math.inf, 5: 4}, "logit bias +4 on token 5; bans token 7"),
    ("order", LLAMA_CPP_ORDER, "order llama.cpp"),
    (
        "order",
        ("min_p", "temperature", "top_k", "top_p", "typical"),
        "order min_p → temperature → top_k → top_p → typical",
    ),
]


def test_no_field_is_forgotten():
    assert {name for name, _, _ in CASES} == {field.name for field in fields(SamplingSettings)}


@pytest.mark.parametrize(("name", "value", "expected"), CASES)
def test_a_setting_that_is_on_is_named(name, value, expected):
    assert expected in words(SamplingSettings(**{name: value}))


def test_all_of_them_at_once():
    chosen = {name: value for name, value, _ in CASES}
    expected = {name: text for name, _, text in CASES}
    assert set(words(SamplingSettings(**chosen))) == set(expected.values())


def test_what_is_off_is_not_named():
    assert words(SamplingSettings()) == ("temperature 1",)


def test_how_a_penalty_counts_is_named_with_it():
    alone = "presence and frequency count the answer alone"
    assert alone in words(SamplingSettings(presence_penalty=0.1))
    assert alone not in words(SamplingSettings(repetition_penalty=1.1))


def test_of_many_biases_the_first_are_named_and_the_rest_is_counted():
    (_, text) = words(SamplingSettings(logit_bias=dict.fromkeys(range(9), 1)))
    assert text.count("+1 on token") == 5
    assert text.endswith("; and 4 more")
