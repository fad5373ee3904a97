"""The overview in a real browser: what is seen without scrolling, the guess, the walk, the tips."""

from __future__ import annotations

import re

import pytest

from tests.browser.harness.actions import press_button, wait_until_idle, widget

FRANCE = {"prompt": "The capital of France is", "temperature": "0"}


def sentence(page):
    return page.locator(".walk .sentence")


def settled(page):
    """Wait until nothing moves any more: in a narrow window the sidebar slides away."""
    before = None
    while (now := widget(page, "main_picture").bounding_box()) != before:
        before = now
        page.wait_for_timeout(700)


@pytest.mark.parametrize("viewport", [(1440, 900), (1024, 768)])
def test_picture_and_buttons_are_seen_without_scrolling(page_at, viewport):
    page = page_at("/", viewport=viewport)
    height = viewport[1]
    settled(page)
    for key in ("next_token", "write_more", "lesson_enter"):
        box = widget(page, key).bounding_box()
        assert box["y"] + box["height"] < height / 2
    picture = widget(page, "main_picture").bounding_box()
    assert picture["y"] <= (300 if height == 768 else height / 3)
    assert height - picture["y"] >= picture["height"] / 2
    assert page.evaluate("() => document.documentElement.scrollWidth") <= viewport[0]


def test_a_guess_and_enter_append_a_token_and_say_where_both_stood(page_at):
    page = page_at("/", params=FRANCE)
    field = widget(page, "guess").get_by_role("textbox")
    field.fill("  <b>London</b>")
    field.press("Enter")
    wait_until_idle(page)
    said = page.get_by_text(re.compile("·Paris came: number 1, 77 %"))
    said.wait_for()
    assert "“<b>London</b>” takes" in said.inner_text()
    assert field.input_value() == ""
    strip = widget(page, "pipeline_strip")
    assert "6 tokens" in strip.locator('[data-stage="tokenizer"]').inner_text()
    assert page.locator(".tokens .fact").inner_text() == "6 tokens"
    assert page.locator(".phase").inner_text() == "decode: 1 new token"
    press_button(page, "start_over")
    assert page.locator(".phase").inner_text() == "prefill: 5 tokens at once"
    assert page.locator(".scores .bars").is_visible()
    page.get_by_text("Hide what the model expects").click()
    wait_until_idle(page)
    for covered in (".scores .bars", ".pick .result", ".lens", ".head-words"):
        assert not page.locator(covered).is_visible()
    assert "Paris" not in strip.inner_text()


def test_the_walk_goes_by_itself_stops_and_steps_by_hand(page_at):
    page = page_at("/", params=FRANCE)
    page.locator(".card.lit").wait_for()
    page.locator(".walk select").select_option("fast")
    page.locator(".card.tokens.lit, .card.vectors.lit").first.wait_for()
    page.get_by_role("button", name=re.compile("Stop here")).click()
    stopped = sentence(page).inner_text()
    page.get_by_role("button", name=re.compile("One stage on")).click()
    assert sentence(page).inner_text() != stopped
    page.get_by_role("button", name=re.compile("One stage back")).click()
    assert sentence(page).inner_text() == stopped
    page.get_by_role("button", name=re.compile("One stage back")).press("ArrowRight")
    assert sentence(page).inner_text() != stopped
    page.locator(".walk").evaluate("element => element.getRootNode().activeElement.blur()")
    page.keyboard.press(",")
    assert sentence(page).inner_text() == stopped


def test_everything_tells_what_it_is_on_hover_and_by_the_keyboard(page_at):
    page = page_at("/", params=FRANCE)
    things = page.locator(".explained")
    assert things.count() >= 13
    tip = page.locator(".tip")
    for index in range(things.count()):
        thing = things.nth(index)
        thing.focus()
        assert tip.is_visible()
        assert len(tip.inner_text()) > 40
        assert thing.get_attribute("aria-label")
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.locator(".head-words").hover()
    assert "23" in page.locator(".head-words").inner_text()
    assert "77 % to 14 %" in tip.inner_text()
