"""The frame around every page, in a real browser: cold links, and what each page shows."""

from __future__ import annotations

import pytest

from components.stages import STAGES, following, sections
from tests.browser.harness.actions import chip, visit, wait_for_model


def heading(page) -> str:
    return page.get_by_role("heading", level=1).first.inner_text()


def test_a_deep_link_opens_on_a_server_that_nobody_has_visited(page_at, cold_server):
    stage = STAGES[-1]
    page = page_at(f"/{stage.url}", server=cold_server)
    assert heading(page) == stage.question
    assert page.get_by_role("navigation", name="App pages").is_visible()
    assert page.get_by_role("textbox", name="Prompt").input_value()


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)
def test_each_page_opens_by_its_link_without_an_error(page_at, stage):
    page = page_at("/" if stage is STAGES[0] else f"/{stage.url}")
    assert heading(page) == stage.question
    assert page.get_by_role("link", name=f"Next: {following(stage.key).title}").is_visible()


def test_the_next_links_lead_once_around_the_whole_pipeline(page_at):
    page = page_at("/")
    for stage in (*STAGES[1:], STAGES[0]):
        page.get_by_role("link", name=f"Next: {stage.title}").click()
        page.get_by_role("heading", level=1, name=stage.question).wait_for()
        wait_for_model(page)


def test_the_strip_names_every_stage_with_a_fact_and_leads_to_each(page_at):
    page = page_at("/", dark=True, viewport=(1024, 768))
    for stage in STAGES:
        fact, label = chip(page, stage.key).inner_text().splitlines()
        assert fact.strip()
        assert label == (stage.short or stage.title)
    for stage in (*STAGES[1:], STAGES[0]):
        visit(page, stage.key)
        assert heading(page) == stage.question


def test_the_navigation_names_every_section(page_at):
    page = page_at("/")
    names = page.get_by_role("navigation", name="App pages").get_by_role("button").all_inner_texts()
    assert [name.strip() for name in names] == list(sections())
