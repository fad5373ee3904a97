"""The sampling page in a real browser: sliders redraw the bars, the link keeps it all."""

from __future__ import annotations

import re

from tests.browser.harness.actions import (
    choose,
    press_button,
    set_slider,
    visit,
    wait_until_idle,
    widget,
)

PROMPT = {"prompt": "The capital of Australia is"}
SLIDERS = {
    "repetition_penalty": 1.5,
    "presence_penalty": 1.0,
    "temperature": 0.4,
    "top_k": 30,
    "top_p": 0.7,
    "min_p": 0.1,
    "typical_p": 0.8,
}


def card(page, name):
    return widget(page, f"card_{name}")


def test_each_slider_redraws_its_card_and_stays_in_the_link(page_at):
    page = page_at("/sampling", params=PROMPT | {"temperature": "1", "top_p": "1"})
    for key, value in SLIDERS.items():
        set_slider(page, key, value)
        assert f"{key}={value:g}" in page.url
    card(page, "top_k").get_by_text("keep the 30 largest logits").wait_for()
    card(page, "temperature").get_by_text("logit ÷ 0.4: sharper").wait_for()
    for name in ("repetition_penalty", "count_penalties", "top_k", "top_p", "min_p", "typical"):
        assert widget(page, f"on_{name}").locator("input").is_checked(), name
    line = widget(page, "line").locator(".line").inner_text()
    survivors = re.search(r"([\d,]+) token", line)[1]
    widget(page, "strip").get_by_text(f"draws from {survivors}", exact=True).wait_for()
    other = page_at("/sampling?" + page.url.split("?", 1)[1])
    assert widget(other, "line").locator(".line").inner_text() == line


def test_settings_live_on_when_pages_change(page_at):
    page = page_at("/sampling", params=PROMPT)
    set_slider(page, "top_k", 12)
    press_button(page, "move_right_temperature")
    visit(page, "lm_head")
    assert widget(page, "top_k").locator("input[type=range]").input_value() == "12"
    set_slider(page, "temperature", 0.3)
    visit(page, "sampling")
    card(page, "temperature").get_by_text("logit ÷ 0.3: sharper").wait_for()
    card(page, "top_k").get_by_text("keep the 12 largest").wait_for()
    assert "order=top_k" in page.url


def test_beams_are_drawn_and_the_laboratory_is_dark_too(page_at):
    page = page_at("/sampling", params=PROMPT | {"lab": "Beams", "beam_tokens": "3"}, dark=True)
    press_button(page, "beam_search", wait=False)
    page.locator(".st-key-beams .js-plotly-plot").wait_for()
    wait_until_idle(page)
    assert "kept open" in widget(page, "beams").inner_text()
    for view in ("Draw", "Sweeps", "A and B", "Sharpness"):
        choose(page, "lab", view)
        page.locator(".js-plotly-plot").first.wait_for()
