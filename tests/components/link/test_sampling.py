"""The sampling settings in the link: read, refused with a sentence, written back."""

import math

import pytest

from components.link.keys import LIMITS
from components.link.sampling import format_bias, format_order, neutral, parse_bias, parse_order
from components.sampling.depth import example_result
from components.sampling.presets import PRESETS, settings_of
from engine.sampling.chain import LLAMA_CPP_ORDER, TRANSFORMERS_ORDER, SamplingSettings


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("", TRANSFORMERS_ORDER),
        ("transformers", TRANSFORMERS_ORDER),
        (" llama.cpp ", LLAMA_CPP_ORDER),
        (
            "top_p, temperature,top_k,min_p,typical",
            ("top_p", "temperature", "top_k", "min_p", "typical"),
        ),
    ],
)
def test_orders_are_read_and_written(text, order):
    assert parse_order(text) == (order, None)
    assert parse_order(format_order(order)) == (order, None)


@pytest.mark.parametrize("text", ["top_k", "top_k,top_k,top_p,min_p,typical", "<b>", "a,b,c,d,e"])
def test_an_order_that_cannot_be_read_is_named(text):
    order, problem = parse_order(text)
    assert order == TRANSFORMERS_ORDER
    assert text in problem
    assert "llama.cpp" in problem


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", ()),
        ("6345:-100, 260:5", ((260, 5.0), (6345, -100.0))),
        ("7 : 0.5;8:−2", ((7, 0.5), (8, -2.0))),
        ("9:-inf", ((9, -math.inf),)),
    ],
)
def test_biases_are_read_and_written(text, pairs):
    assert parse_bias(text) == (pairs, None)
    assert parse_bias(format_bias(pairs)) == (pairs, None)


@pytest.mark.parametrize("part", ["x:1", "5:101", "5:nan", "5:inf", "5", "-3:1", "5:1:2", "5:<b>"])
def test_a_bias_that_cannot_be_read_is_named_and_the_others_stay(part):
    pairs, problem = parse_bias(f"260:5, {part}")
    assert pairs == ((260, 5.0),)
    assert f"“{part}”" in problem


def test_presets_set_only_what_they_name_and_are_settings():
    assert settings_of("The model's own") == SamplingSettings()
    assert settings_of("Greedy (always the top)").greedy
    allowed = {limit.key: limit for limit in LIMITS}
    for preset in PRESETS:
        for key, value in preset.values.items():
            assert allowed[key].low <= value <= allowed[key].high
            assert value != neutral(key)


def test_the_example_of_the_two_orders():
    assert example_result() == [0]
    assert example_result(LLAMA_CPP_ORDER) == [0, 1]


@pytest.mark.parametrize(
    ("text", "pairs", "named"),
    [
        ("5:1,5:2", (), "token 5 twice"),
        ("5:1, 7:3; 5:1", ((7, 3.0),), "token 5 twice"),
        ("5:1,5:2,5:3", (), "token 5 twice"),
        ("5:1,5:2,x:1", (), "token 5 twice"),
        ("5:1_0", (), "“5:1_0” can't be read"),
        ("6345:-0,5", (), "“6345:-0,5”"),
        ("6345:-0,5; 7:2", ((7, 2.0),), "“6345:-0,5”"),
        ("7:2, 6345:1,25", ((7, 2.0),), "“6345:1,25”"),
        ("6345:-0.5", ((6345, -0.5),), None),
        ("5:1,7:2", ((5, 1.0), (7, 2.0)), None),
        ("5:-0,7:2", ((5, 0.0), (7, 2.0)), None),
    ],
)
def test_a_bias_given_twice_or_with_a_decimal_comma_is_refused_and_named(text, pairs, named):
    found, problem = parse_bias(text)
    assert found == pairs
    assert (problem is None) == (named is None)
    assert named is None or named in problem
