"""A choice of layer, head or token: it follows the prompt until somebody chooses."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from components.link import check, keys
    from components.link.selection import pick

    check.read_link()
    start = st.session_state.get("start", 2)
    high = st.session_state.get("high", 9)
    pick(keys.Limit("layer", "Layer", 0, high, start, 1, whole=True), lambda i: f"layer {i}")
    check.show_notices()


def opened(**link) -> AppTest:
    at = AppTest.from_function(page)
    for key, value in link.items():
        at.query_params[key] = value
    return at.run()


def restart(at: AppTest, **values) -> AppTest:
    for key, value in values.items():
        at.session_state[key] = value
    return at.run()


def test_it_follows_the_start_until_somebody_chooses():
    at = opened()
    assert (at.session_state["layer"], "layer" in at.query_params) == (2, False)
    assert restart(at, start=5).session_state["layer"] == 5
    at.selectbox(key="layer").set_value(7).run()
    assert at.query_params["layer"] == "7"
    restart(at, start=3)
    assert (at.session_state["layer"], at.selectbox(key="layer").value) == (7, 7)


def test_a_callback_and_a_link_choose_too_and_both_stay():
    at = restart(opened(), layer=4)
    assert restart(at, start=5).session_state["layer"] == 4
    at = opened(layer="6")
    assert restart(at, start=5).session_state["layer"] == 6
    assert at.query_params["layer"] == "6"


def test_an_address_that_changes_later_wins_as_after_the_browsers_back():
    at = opened(layer="6")
    at.selectbox(key="layer").set_value(8).run()
    at.query_params["layer"] = "6"
    assert at.run().session_state["layer"] == 6


def test_a_number_that_there_is_not_is_said_and_a_smaller_range_clamps():
    at = opened(layer="99")
    assert at.session_state["layer"] == 9
    assert "Layer in the link was 99" in at.toast[0].value
    assert restart(at, high=4).session_state["layer"] == 4
    assert opened(layer="many").session_state["layer"] == 2
