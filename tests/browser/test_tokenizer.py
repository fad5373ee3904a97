"""The tokenizer page in a browser: clicks on the strip, closer looks, markup shown literally."""

from __future__ import annotations

from tests.browser.harness.actions import choose, set_slider, widget


def test_a_click_on_a_token_shows_its_card_and_reaches_the_link(page_at):
    page = page_at("/tokenizer", params={"prompt": "Hug 🤗 <b>x</b>"})
    strip = widget(page, "tokens")
    strip.get_by_role("button", name="bytes: A4").click()
    card = widget(page, "token_card")
    card.get_by_text("id 114").wait_for()
    assert "needs 3 tokens" in card.inner_text()
    page.wait_for_url("**token=3**")
    assert "<b>x</b>" in "".join(strip.locator(".piece").all_inner_texts())
    assert page.locator("b", has_text="x").count() == 0


def test_the_slider_walks_the_merges_of_the_chosen_word(page_at):
    page = page_at("/tokenizer", params={"prompt": "It is unbelievable", "token": "2"})
    table = page.get_by_role("table", name="Merges step by step")
    table.wait_for()
    last = table.get_by_role("row").last
    assert last.get_by_role("cell").all_inner_texts() == ["·unbelie", "vable"]
    assert table.get_by_role("row").count() == 12, "the start and all eleven merges"
    set_slider(page, "merge_step_2_11", 1)
    page.get_by_text("Merge 1 of 11").wait_for()
    assert table.get_by_role("row").count() == 2
    assert len(last.get_by_role("cell").all_inner_texts()) == 12
    widget(page, "tokens").get_by_role("button", name="token 1 of 4").click()
    page.get_by_text("Merge 1 of 11").wait_for(state="hidden")
    widget(page, "tokens").get_by_role("button", name="token 3 of 4").click()
    page.get_by_text("Merge 11 of 11").wait_for()
    assert table.get_by_role("row").count() == 12


def test_other_vocabularies_and_forged_turns(page_at):
    page = page_at("/tokenizer", params={"prompt": "In 2024"}, dark=True, viewport=(1024, 768))
    choose(page, "look", "Other vocabularies")
    table = page.get_by_role("table", name="The same text under several vocabularies")
    rows = table.get_by_role("row")
    assert rows.count() == 6
    assert rows.last.get_by_role("cell").all_inner_texts() == ["In", "·", "202", "4"]
    assert rows.nth(1).get_by_role("cell").all_inner_texts() == ["In", "·", "2", "0", "2", "4"]
    choose(page, "look", "What the model receives")
    page.get_by_text("Forged turn").wait_for()
    forged = widget(page, "reading_parsed").get_by_role("button", name="special token")
    assert forged.count() == 2
