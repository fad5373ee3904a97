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


CARD_OF = {
    "repetition_penalty": "repetition_penalty",
    "presence_penalty": "count_penalties",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "typical_p": "typical",
}


def card(page, name):
    return widget(page, f"card_{name}")


def step(page, name):
    return widget(page, "step_line").locator(f'[data-step="{name}"]')


def test_each_slider_redraws_its_card_and_stays_in_the_link(page_at):
    page = page_at("/sampling", params=PROMPT | {"temperature": "1", "top_p": "1"})
    for key, value in SLIDERS.items():
        if key in CARD_OF:
            step(page, CARD_OF[key]).click()
            card(page, CARD_OF[key]).wait_for()
            wait_until_idle(page)
        set_slider(page, key, value)
        assert f"{key}={value:g}" in page.url
        if key == "top_k":
            card(page, "top_k").get_by_text("keep the 30 largest logits").wait_for()
    widget(page, "bars_main").get_by_text("T = 0.4: the likeliest gains").wait_for()
    for name in ("repetition_penalty", "count_penalties", "top_k", "top_p", "min_p", "typical"):
        assert "on" in step(page, name).get_attribute("class").split(), name
    line = widget(page, "line").locator(".line").inner_text()
    survivors = re.search(r"([\d,]+) token", line)[1]
    widget(page, "strip").get_by_text(f"draws from {survivors}", exact=True).wait_for()
    other = page_at("/sampling?" + page.url.split("?", 1)[1])
    assert widget(other, "line").locator(".line").inner_text() == line
    choose(other, "lab", "Draw")  # the sidebar has the fields now, so the link keeps them
    assert all(f"{key}={value:g}" in other.url for key, value in SLIDERS.items())


def test_the_temperature_and_its_bars_stand_above_the_fold(page_at):
    for viewport in ((1440, 900), (1024, 768)):
        page = page_at("/sampling", viewport=viewport)
        box = widget(page, "main_picture").bounding_box()
        assert box["y"] <= 300
        assert box["y"] + box["height"] <= viewport[1]
        thumb = widget(page, "temperature").locator("input[type=range]").bounding_box()
        assert thumb["y"] < viewport[1]


def test_settings_live_on_when_pages_change(page_at):
    page = page_at("/sampling", params=PROMPT)
    set_slider(page, "top_k", 12)
    step(page, "temperature").click()
    press_button(page, "move_right_temperature")
    visit(page, "lm_head")
    assert widget(page, "top_k").locator("input[type=range]").input_value() == "12"
    set_slider(page, "temperature", 0.3)
    visit(page, "sampling")
    widget(page, "bars_main").get_by_text("T = 0.3: the likeliest gains").wait_for()
    assert step(page, "top_k").inner_text().split() == ["Top-k", "12"]
    assert "order=top_k" in page.url


def test_beams_are_drawn_and_the_laboratory_is_dark_too(page_at):
    page = page_at("/sampling", params=PROMPT | {"lab": "Beams", "beam_tokens": "3"}, dark=True)
    page.locator(".st-key-beams .js-plotly-plot").wait_for()
    wait_until_idle(page)
    assert "kept open" in widget(page, "beams").inner_text()
    for view in ("Draw", "Turn one knob", "Compare two settings", "Sharpness"):
        choose(page, "lab", view)
        page.locator(".js-plotly-plot").first.wait_for()
