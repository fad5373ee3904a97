"""The frame around every page, in a real browser: cold links, and what each page shows."""

from __future__ import annotations

import re

from components.link import keys
from components.shell.stages import STAGES, stage
from tests.browser.harness.actions import (
    chip,
    choose,
    open_tab,
    press_button,
    set_slider,
    visit,
    wait_for_model,
    wait_until_idle,
    widget,
)

MARKUP = "<b>x</b> **y** `z` $a$ :smile: %{x} [l](http://e.org) <script>alert(1)</script>"


def heading(page) -> str:
    return page.get_by_role("heading", level=1).first.inner_text()


def test_a_deep_link_opens_on_a_server_that_nobody_has_visited(page_at, cold_server):
    last = STAGES[-1]
    page = page_at(f"/{last.url}", params={"seed": "1e400"}, server=cold_server)
    assert heading(page) == last.question
    assert page.url == f"{cold_server.url}/{last.url}", "the seed is put right, the page stays"
    assert page.get_by_role("navigation", name="Pipeline").is_visible()
    assert page.get_by_role("textbox", name="Prompt").input_value()


def test_the_next_links_lead_through_all_stages_where_markup_is_shown_literally(page_at):
    page = page_at("/", params={"prompt": MARKUP}, dark=True, viewport=(1024, 768))
    for entry in STAGES:
        fact, label = chip(page, entry.key).inner_text().splitlines()
        assert fact.strip()
        assert label == (entry.short or entry.title)
    main = page.get_by_test_id("stMain")
    for entry in (*STAGES[1:], STAGES[0]):
        page.get_by_role("link", name=f"Next: {entry.title}").click()
        page.get_by_role("heading", level=1, name=entry.question).wait_for()
        wait_for_model(page)
        assert main.locator("b", has_text=re.compile("^x$")).count() == 0
        assert main.locator('a[href*="e.org"]').count() == 0
        assert main.locator("script").count() == 0


def test_enter_applies_the_prompt_and_shift_enter_makes_a_line_that_is_seen(page_at):
    page = page_at("/tokenizer", params={"prompt": "The cat"})
    box = page.get_by_role("textbox", name="Prompt", exact=True)
    box.fill("The dog")
    box.press("Enter")
    wait_until_idle(page)
    assert "2 tokens" in chip(page, "tokenizer").inner_text()
    box.press("End")
    box.press("Shift+Enter")
    assert page.get_by_text("ends with ⏎").is_visible()
    page.get_by_role("button", name="Run").click()
    wait_until_idle(page)
    assert "3 tokens" in chip(page, "tokenizer").inner_text()
    assert "prompt=The+dog%0A" in page.url


def test_an_example_says_what_it_changed_and_can_be_undone(page_at):
    page = page_at("/tokenizer", params={"prompt": "My own words"})
    widget(page, "example").get_by_role("button").click()
    page.get_by_role("menuitem", name="A false question").or_(
        page.get_by_role("option", name="A false question")
    ).first.click()
    wait_until_idle(page)
    box = page.get_by_role("textbox", name="Prompt", exact=True)
    assert box.input_value() == "Why is the sky green?"
    assert page.get_by_text("A false question, as a chat turn.").is_visible()
    press_button(page, "undo_change")
    assert box.input_value() == "My own words"
    assert not page.get_by_text("A false question, as a chat turn.").count()


def test_presenting_enlarges_closes_the_sidebar_and_leads_on_by_the_arrow_keys(page_at):
    page = page_at("/tokenizer", params={"prompt": "The cat sat", "token": "1"})
    size = "() => parseFloat(getComputedStyle(document.documentElement).fontSize)"
    before = page.evaluate(size)
    opener = page.get_by_role("button", name="Expand sidebar")
    assert not opener.count()
    page.keyboard.press("p")
    wait_until_idle(page)
    assert page.evaluate(size) > before
    assert opener.is_visible()
    page.keyboard.press("ArrowRight")
    page.get_by_role("heading", level=1, name=stage("embedding").question).wait_for()
    wait_until_idle(page)
    assert "present=true" in page.url
    assert "prompt=The+cat+sat" in page.url
    page.keyboard.press("Escape")
    wait_until_idle(page)
    assert page.evaluate(size) == before


def test_a_narrow_window_closes_the_sidebar_and_every_chip_stands_in_one_row(page_at):
    for viewport in ((1024, 768), (390, 844)):
        page = page_at("/attention", viewport=viewport)
        page.get_by_role("button", name="Expand sidebar").wait_for()
        wait_until_idle(page)
        tops = {round(chip(page, entry.key).bounding_box()["y"]) for entry in STAGES}
        assert len(tops) == 1
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= viewport[0]
        page.close()


def test_the_frame_over_the_picture_takes_little_room(page_at):
    page = page_at("/sampling", params={"prompt": "The cat sat"}, viewport=(1024, 768))
    frame = widget(page, "frame").bounding_box()
    assert frame["y"] + frame["height"] <= 230


def test_back_returns_to_the_view_that_was_left(page_at):
    page = page_at("/tokenizer", params={"prompt": "Two cats"})
    left = []

    def leave(key: str) -> None:
        left.append(page.url)
        visit(page, key)

    choose(page, keys.TOKENIZER_PART, "Tokens are not words")
    leave("lm_head")
    open_tab(page, "In depth")
    leave("sampling")
    set_slider(page, keys.TEMPERATURE, 1.5)
    leave("tokenizer")
    assert "look=Tokens" in page.url, "a chip returns to the view that was left too"
    assert "temperature=1.5" in page.url, "what is set on one page holds on all"
    for address in reversed(left):
        page.go_back()
        page.wait_for_url(address)
        wait_until_idle(page)
        assert page.url == address
        if "/sampling" in address:
            slider = widget(page, keys.TEMPERATURE).locator("input[type=range]")
            assert float(slider.input_value()) == 1.5
        shown = "In depth" if "/lm-head" in address else "Visual"
        assert widget(page, keys.VIEW).get_by_role("radio", name=shown).is_checked()
