"""What a class does first, in a real browser: a prompt, every page, every slider, a shared link."""

from __future__ import annotations

import re

from components.link import keys
from components.shell.stages import stage
from tests.browser.harness.actions import (
    press_button,
    select,
    set_slider,
    type_prompt,
    visit,
    wait_until_idle,
    widget,
)

SELECTION = {keys.LAYER: "layer 12", keys.HEAD: "head 4", keys.TOKEN: "4: ·on"}


def fact_of(page, stage: str) -> str:
    return widget(page, "pipeline_strip").locator(f'[data-stage="{stage}"]').inner_text()


def test_a_prompt_and_every_slider_count_on_the_next_page(page_at):
    page = page_at("/")
    type_prompt(page, "The capital of France is")
    assert "5 tokens" in fact_of(page, "tokenizer")
    assert "·Paris 77 %" in fact_of(page, "lm_head")
    visit(page, "tokenizer")
    set_slider(page, keys.TEMPERATURE, 1)
    set_slider(page, keys.TOP_P, 1)
    assert "draws from 49,152" in fact_of(page, "sampling")
    set_slider(page, keys.TOP_K, 7)
    assert "draws from 7" in fact_of(page, "sampling")
    set_slider(page, keys.MIN_P, 0.05)
    assert "draws from 2" in fact_of(page, "sampling")
    set_slider(page, keys.REPETITION_PENALTY, 1.5)
    set_slider(page, keys.TEMPERATURE, 0)
    assert "draws from 1" in fact_of(page, "sampling")


def test_a_shared_link_restores_prompt_settings_and_selection(page_at):
    first = page_at(
        "/attention", params={"prompt": "The cat sat on the mat.", "temperature": "0.5"}
    )
    for key, option in SELECTION.items():
        select(first, key, option)
    set_slider(first, keys.TOP_K, 40)
    second = page_at(re.sub(r"^https?://[^/]+", "", first.url))
    assert second.get_by_role("textbox", name="Prompt").input_value() == "The cat sat on the mat."
    for key, option in SELECTION.items():
        assert widget(second, key).get_by_role("combobox").input_value() == option
    for key, value in ((keys.TOP_K, 40), (keys.TEMPERATURE, 0.5)):
        assert float(widget(second, key).locator("input[type=range]").input_value()) == value


def test_values_in_a_link_that_cannot_be_are_clamped_and_said(page_at):
    page = page_at("/attention", params={"temperature": "99", "layer": "500"})
    assert page.get_by_text("Temperature in the link was 99").is_visible()
    assert page.get_by_text("Layer in the link was 500").is_visible()
    assert float(widget(page, keys.TEMPERATURE).locator("input[type=range]").input_value()) == 2
    assert widget(page, keys.LAYER).get_by_role("combobox").input_value() == "layer 29"


def test_the_overview_writes_and_stops_and_its_cards_open_their_pages(page_at):
    params = {"prompt": "The capital of France is", "temperature": "0"}
    page = page_at("/", params=params)
    press_button(page, "next_token")
    assert page.get_by_label("Text so far").inner_text() == "The·capital·of·France·is·Paris"
    press_button(page, "write_more", wait=False)
    page.get_by_label("Text so far").get_by_text("·Paris").wait_for()
    widget(page, "stop_writing").get_by_role("button").click()
    wait_until_idle(page)
    pieces = page.get_by_label("Text so far").locator("span").count()
    assert 1 <= pieces < 21
    press_button(page, "start_over")
    assert page.get_by_label("Text so far").inner_text() == "The·capital·of·France·is"
    page.get_by_role("button", name=re.compile("^Attention: ")).click()
    page.get_by_role("heading", level=1, name=stage("attention").question).wait_for()
    wait_until_idle(page)
