"""Speculative decoding in a real browser: a race that pays, one that is stopped."""

from __future__ import annotations

from tests.browser.harness.actions import choose, press_button, set_slider, widget

COPY = {
    "prompt": "The cat sat on the mat. The cat sat on the",
    "temperature": "0",
    "max_new_tokens": "15",
}


def test_lookup_copies_and_the_texts_are_equal(page_at):
    page = page_at("/speculative", params=COPY)
    press_button(page, "race")
    assert page.get_by_text("both texts are the same").is_visible()
    assert "round 1" in page.get_by_label("Rounds of guesses and checks").inner_text()
    assert page.get_by_text("accepted: p = 100 %").first.is_visible()
    choose(page, "draft", "Distilled")
    press_button(page, "race")
    assert page.get_by_text("both texts are the same").is_visible()
    assert page.get_by_text("Nothing was guessed, so this is a plain step").is_visible()


def test_stop_ends_a_race(page_at):
    page = page_at("/speculative", params=COPY | {"max_new_tokens": "200"}, dark=True)
    choose(page, "draft", "Early exit")
    set_slider(page, "exit_layers", 3)
    press_button(page, "race", wait=False)
    page.get_by_text("tokens each way").wait_for()
    press_button(page, "stop_race")
    assert not widget(page, "race").get_by_role("button").is_disabled()
    assert page.get_by_label("Rounds of guesses and checks").is_visible()
