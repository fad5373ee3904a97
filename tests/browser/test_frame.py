"""The frame around every page, in a real browser: cold links, and what each page shows."""

from __future__ import annotations

import re

from components.shell.stages import STAGES, sections
from tests.browser.harness.actions import chip, wait_for_model

MARKUP = "<b>x</b> **y** `z` $a$ :smile: %{x} [l](http://e.org) <script>alert(1)</script>"


def heading(page) -> str:
    return page.get_by_role("heading", level=1).first.inner_text()


def test_a_deep_link_opens_on_a_server_that_nobody_has_visited(page_at, cold_server):
    stage = STAGES[-1]
    page = page_at(f"/{stage.url}", params={"seed": "1e400"}, server=cold_server)
    assert heading(page) == stage.question
    assert page.url == f"{cold_server.url}/{stage.url}", "the seed is put right, the page stays"
    assert page.get_by_role("navigation", name="App pages").is_visible()
    assert page.get_by_role("textbox", name="Prompt").input_value()


def test_the_next_links_lead_through_all_stages_where_markup_is_shown_literally(page_at):
    page = page_at("/", params={"prompt": MARKUP}, dark=True, viewport=(1024, 768))
    names = page.get_by_role("navigation", name="App pages").get_by_role("button").all_inner_texts()
    assert [name.strip() for name in names] == list(sections())
    for stage in STAGES:
        fact, label = chip(page, stage.key).inner_text().splitlines()
        assert fact.strip()
        assert label == (stage.short or stage.title)
    main = page.get_by_test_id("stMain")
    for stage in (*STAGES[1:], STAGES[0]):
        page.get_by_role("link", name=f"Next: {stage.title}").click()
        page.get_by_role("heading", level=1, name=stage.question).wait_for()
        wait_for_model(page)
        assert main.locator("b", has_text=re.compile("^x$")).count() == 0
        assert main.locator('a[href*="e.org"]').count() == 0
        assert main.locator("script").count() == 0
