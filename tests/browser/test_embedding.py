"""The embedding page in a browser: each look, the shared selection, two orders."""

from __future__ import annotations

from tests.browser.harness.actions import choose, set_slider, type_text, widget


def chart_title(page, key: str) -> str:
    return widget(page, key).locator(".gtitle").text_content()


def test_a_link_restores_the_choice_and_the_score_stays_when_both_tokens_move(page_at):
    link = {"token": "3", "layer": "2", "head": "5", "vectors": "Position"}
    page = page_at("/embedding", params=link)
    assert "At position 3 pair 0" in chart_title(page, "angles")
    assert "Layer 2, head 5" in chart_title(page, "mean_score")
    set_slider(page, "rope_pair", 31)
    assert "438,460 tokens" in chart_title(page, "wavelengths")
    before = chart_title(page, "distance")
    set_slider(page, "rope_shift", 120)
    assert chart_title(page, "distance") == before
    page.get_by_text("At 123 and 120").wait_for()
    choose(page, "vectors", "Look-up")
    assert "row 6,376 of the table" in chart_title(page, "embedding_row")


def test_two_orders_of_ones_own_words(page_at):
    page = page_at("/embedding", params={"vectors": "Order"}, dark=True, viewport=(1024, 768))
    assert "6.4 %" in chart_title(page, "order_layers")
    type_text(page, "order_first", "cats like <b>dogs</b> too.")
    page.get_by_text("not two orders of the same tokens").wait_for()
    type_text(page, "order_second", "dogs</b> like <b>cats too.")
    assert page.locator("b", has_text="cats").count() == 0
