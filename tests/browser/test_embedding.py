"""The embedding page in a browser: each look, the shared selection, two orders."""

from __future__ import annotations

import re

from tests.browser.harness.actions import choose, set_slider, type_text, widget


def chart_title(page, key: str) -> str:
    return widget(page, key).locator(".gtitle").text_content()


def test_a_link_restores_the_choice_and_the_score_stays_when_both_tokens_move(page_at):
    link = {"token": "3", "layer": "2", "head": "5", "vectors": "Position"}
    page = page_at("/embedding", params={"prompt": "Why is the sky blue?", **link})
    assert "At position 3 pair 0" in chart_title(page, "angles")
    assert "Layer 2, head 5" in chart_title(page, "mean_score")
    set_slider(page, "rope_pair", 31)
    assert "438,460 tokens" in chart_title(page, "wavelengths")
    before = re.search(r"stays (−?[\d.]+)", chart_title(page, "distance")).group(1)
    set_slider(page, "rope_shift", 120)
    assert f"Both moved by 120: the score stays {before}" in chart_title(page, "distance")
    page.get_by_text("At 123 and 120").wait_for()
    choose(page, "vectors", "Look-up")
    assert "row 6,376 of the table" in chart_title(page, "embedding_row")


def test_two_orders_lead_to_other_words_and_position_off_to_the_same(page_at):
    page = page_at("/embedding", dark=True, viewport=(1024, 768))
    picture = widget(page, "main_picture").bounding_box()
    assert picture["y"] <= 300
    assert chart_title(page, "next_first").endswith("·eight, 68 %")
    assert chart_title(page, "next_second").endswith("·three, 60 %")
    page.get_by_text("eight, nine, ten, eleven").wait_for()
    widget(page, "position_off").get_by_text("Position off").click()
    page.get_by_text("·and leads after both").wait_for()
    page.get_by_role("button", name="Other words").click()
    type_text(page, "order_first", "cats like <b>dogs</b> too.")
    page.get_by_text("not two orders of the same tokens").wait_for()
    assert page.locator("b", has_text="dogs").count() == 0
