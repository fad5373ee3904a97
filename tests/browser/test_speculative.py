"""Speculative decoding in a real browser: a race that pays, one that is stopped."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.harness.actions import TIMEOUT, press_button, select, widget

COPY = {
    "prompt": "The cat sat on the mat. The cat sat on the",
    "temperature": "0",
    "max_new_tokens": "15",
}


def test_lookup_copies_and_the_texts_are_equal(page_at):
    page = page_at("/speculative", params=COPY)
    race = widget(page, "two_texts")
    texts = race.get_by_role("group")
    expect(race.locator(".later")).to_have_count(0, timeout=TIMEOUT)  # it has been played
    assert texts.nth(0).inner_text() == texts.nth(1).inner_text()
    assert texts.nth(0).locator(".pass").count() < texts.nth(1).locator(".pass").count()
    press_button(page, "race")
    assert texts.nth(0).inner_text() == texts.nth(1).inner_text()
    assert page.get_by_text("both texts are the same").is_visible()
    assert "round 1" in page.get_by_label("Rounds of guesses and checks").inner_text()
    assert page.get_by_text("accepted: p = 100 %").first.is_visible()
    page.get_by_role("button", name="Draft: Prompt lookup").click()
    select(page, "draft", "Distilled")
    page.keyboard.press("Escape")
    press_button(page, "race")
    assert page.get_by_text("both texts are the same").is_visible()
    assert page.get_by_text("Nothing was guessed, so this is a plain step").is_visible()


def test_stop_ends_a_race(page_at):
    draft = {"draft": "Early exit", "exit_layers": "3"}
    page = page_at("/speculative", params=COPY | draft | {"max_new_tokens": "200"}, dark=True)
    press_button(page, "race", wait=False)
    page.get_by_text("tokens each way").wait_for()
    press_button(page, "stop_race")
    assert not widget(page, "race").get_by_role("button").is_disabled()
    assert page.get_by_label("Rounds of guesses and checks").is_visible()
