"""The LM head's page in a real browser: a bar is clicked, a token is looked up."""

from __future__ import annotations

from tests.browser.harness.actions import choose, type_text, wait_until_idle

PROMPT = {"prompt": "The capital of France is"}


def test_a_clicked_bar_is_spelled_out(page_at):
    page = page_at("/lm-head", params=PROMPT)
    page.get_by_text("is number 1 with the logit").wait_for()
    bar = page.locator(".st-key-probabilities .bars .point").nth(1)
    box = bar.locator("path").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.get_by_text("is number 2 with the logit").wait_for()
    wait_until_idle(page)


def test_a_token_is_found_and_every_view_is_drawn(page_at):
    page = page_at("/lm-head", params=PROMPT, viewport=(1024, 768))
    type_text(page, "lm_head_look_up", "London")
    page.get_by_role("button", name="Did you mean").click()
    page.get_by_text("is number 3 with the logit").wait_for()
    choose(page, "scores", "All scores")
    ticks = page.locator(".st-key-mass .ytick text")
    ticks.first.wait_for()
    assert ticks.all_text_contents() == ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]
    choose(page, "scores", "Two prompts")
    page.locator(".js-plotly-plot").first.wait_for()
    choose(page, "scores", "No answer inside")
    page.get_by_text("10 different texts").wait_for()
