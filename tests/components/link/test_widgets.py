"""Bound widgets alone, on a page without a model: what a link gives, and what is said."""

from __future__ import annotations

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components.link import check

RIGHT = {
    "look": "two",
    "learn_rate": "1e-03",
    "show_guards": "true",
    "rope_pair": "3",
    "loss_text": "<b>x</b>",
    "view": "Second",
    "neuron": "4",
    "block_box": "right",
}
VALUES = {
    "look": "two",
    "learn_rate": 1e-3,
    "show_guards": True,
    "rope_pair": 3,
    "loss_text": "<b>x</b>",
    "view": "Second",
    "neuron": 4,
    "block_box": "right",
}
WRONG = {
    "look": ("<b>three</b>", "one", "“<b>three</b>”, which is none of one, two; it is now one."),
    "learn_rate": ("5", 1e-5, "“5”, which is none of 1e-05, 1e-03; it is now 1e-05."),
    "show_guards": ("maybe", False, "“maybe”, which is none of true, false; it is now false."),
    "rope_pair": ("9", 5, "was 9; it goes from 0 to 5, so it is now 5."),
    "loss_text": ("x" * 801, "usual", "has 801 characters; at most 800 are taken"),
    "view": ("Third", "First", "“Third”, which is none of First, Second; it is now First."),
    "neuron": ("-1", 0, "was -1; it goes from 0 to 7, so it is now 0."),
    "block_box": ("up", "left", "“up”, which is none of left, right; it is now left."),
}


def page() -> None:
    import streamlit as st

    from components.link import check, keys, widgets

    check.read_link()
    widgets.choice("Look", ("one", "two"), key=keys.TOKENIZER_PART)
    widgets.choice(
        "Rate",
        (1e-5, 1e-3),
        key=keys.LEARN_RATE,
        draw=st.select_slider,
        spell=lambda value: f"{value:.0e}",
    )
    widgets.toggle("Guards", key=keys.SHOW_GUARDS)
    widgets.slider(keys.Limit(keys.ROPE_PAIR, "Pair", 0, 5, 1, 1, whole=True))
    widgets.slider(keys.Limit(keys.ROPE_KEY, "Key", 0, 0, 0, 1, whole=True))
    widgets.text("Text", "usual", key=keys.LOSS_TEXT)
    widgets.choice("View", ("First", "Second"), key=keys.VIEW)
    neuron = widgets.number(keys.NEURON, "Neuron", 7)
    if neuron is not None:
        widgets.write(keys.NEURON, neuron)
    widgets.write(keys.BLOCK_BOX, widgets.name(keys.BLOCK_BOX, "Box", ("left", "right"), "left"))
    check.show_notices()


def opened(link: dict[str, str]) -> AppTest:
    at = AppTest.from_function(page, default_timeout=600)
    at.query_params.update(link)
    at.run()
    assert not at.exception
    return at


def test_each_kind_of_widget_takes_its_value_from_the_link_and_keeps_it_there():
    at = opened(RIGHT)
    assert {key: at.session_state[key] for key in VALUES} == VALUES
    assert not at.toast
    assert at.query_params == RIGHT


def test_each_wrong_value_falls_back_and_is_named_literally_and_leaves_the_address():
    at = opened({key: text for key, (text, _, _) in WRONG.items()})
    assert {key: at.session_state[key] for key in WRONG} == {
        key: value for key, (_, value, _) in WRONG.items()
    }
    said = [toast.value.replace("\\", "") for toast in at.toast]
    assert len(said) == len(WRONG)
    for _, _, sentence in WRONG.values():
        assert any(sentence in notice for notice in said), (sentence, said)
    assert at.query_params == {"rope_pair": "5", "neuron": "0", "block_box": "left"}


@pytest.mark.parametrize(("text", "value"), [("2.5", 1), ("nan", 1), ("", 1), ("many", 1)])
def test_what_is_no_whole_number_becomes_the_start_of_the_slider(text, value):
    at = opened({"rope_pair": text})
    assert at.session_state["rope_pair"] == value
    assert len(at.toast) == 1
    assert "rope_pair" not in at.query_params


def test_a_slider_without_a_choice_stands_at_its_only_value():
    at = opened({"rope_key": "1"})
    assert at.session_state["rope_key"] == 0
    assert "Key in the link was 1" in at.toast[0].value
    assert "rope_key" not in at.query_params


def test_a_value_that_was_set_by_a_click_goes_into_the_link(monkeypatch):
    at = opened({})
    # As the callback of a click does: in the script, before the widgets are drawn.
    monkeypatch.setattr(check, "read_link", lambda: st.session_state.update(VALUES))
    at.run()
    assert at.query_params == RIGHT
