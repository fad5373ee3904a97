"""The generation page in a real browser: written, stopped, clicked, branched, and two at once."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.harness.actions import (
    TIMEOUT,
    choose,
    open_tab,
    press_button,
    set_slider,
    visit,
    wait_for_model,
    wait_until_idle,
    widget,
)

GREEDY = {"prompt": "The capital of France is", "temperature": "0", "max_new_tokens": "6"}
LONG = {"prompt": "Once upon a time", "temperature": "0", "max_new_tokens": "200"}


def pieces(page):
    return widget(page, "answer").locator(".piece")


def texts(page) -> list[str]:
    return pieces(page).all_inner_texts()


def wait_for_tokens(page) -> None:
    page.get_by_text(re.compile(r"^[3-9]\d* tokens?, \d+ ms for this one$")).wait_for()


def test_an_answer_is_written_and_another_token_taken(page_at):
    page = page_at("/generate", params=GREEDY)  # where an answer is written by itself
    assert texts(page)[0] == " Paris"
    assert len(texts(page)) == 6
    assert page.get_by_text("Ended by the token budget").is_visible()
    first = texts(page)
    pieces(page).nth(0).click()
    wait_until_idle(page)
    assert pieces(page).nth(0).get_attribute("aria-pressed") == "true"
    assert "later" in pieces(page).nth(3).get_attribute("class")
    table = widget(page, "alternatives")
    assert "·Paris" in table.get_by_role("row").nth(1).inner_text()
    taken = table.get_by_role("row").nth(2).locator(".token").inner_text()
    table.get_by_role("button").first.click()
    expect(pieces(page).first).not_to_have_text(" Paris", timeout=TIMEOUT)
    expect(pieces(page)).to_have_count(6, timeout=TIMEOUT)
    wait_until_idle(page)
    assert "·" + texts(page)[0].strip() == re.sub(r"\d+$", "", taken).strip()
    press = widget(page, "branch_box").get_by_role("combobox")
    assert "taken by you" in (press.input_value() or widget(page, "branch_box").inner_text())
    pieces(page).nth(0).click()
    wait_until_idle(page)
    table.get_by_role("button", name=re.compile("Go to the branch with ·Paris")).click()
    wait_until_idle(page)
    assert texts(page) == first


def test_stop_or_another_page_ends_a_run_within_a_token_and_the_text_stays(page_at):
    page = page_at("/generate", params=LONG, ready=False)
    wait_for_tokens(page)
    press_button(page, "stop_run")
    stopped = len(texts(page))
    assert 3 <= stopped < 150
    assert page.get_by_text("Stopped by you.").is_visible()
    choose(page, "closer", "Detokenizer")
    assert len(texts(page)) == stopped
    press_button(page, "write", wait=False)
    wait_for_tokens(page)
    visit(page, "tokenizer")
    visit(page, "generation")
    count = len(texts(page))
    assert stopped < count < 190
    open_tab(page, "In depth")
    open_tab(page, "Visual")
    assert len(texts(page)) == count


def test_two_people_write_at_once_and_get_the_texts_that_they_get_alone(page_at):
    prompts = (GREEDY["prompt"], "The capital of Spain is")
    links = [GREEDY | {"prompt": prompt} for prompt in prompts]
    pages = [page_at("/generate", params=link, ready=False) for link in links]
    for page, prompt in zip(pages, prompts, strict=True):
        wait_for_model(page)
        assert page.get_by_role("textbox", name="Prompt").input_value() == prompt
    together = [texts(page) for page in pages]
    assert [text[0] for text in together] == [" Paris", " Madrid"]
    alone = pages[1]
    alone.get_by_role("button", name="When to stop").click()
    set_slider(alone, "max_new_tokens", 7)  # another run than the one that is kept
    press_button(alone, "write_new")
    assert texts(alone)[:6] == together[1]


def test_markup_in_prompt_and_stop_string_is_shown_literally(page_at):
    params = {
        "prompt": "<b>bold</b> <b>bold</b> <b>bold</b> <b>bold</b> <b>",
        "stop": "<i>$x$</i>",
        "temperature": "0",
        "max_new_tokens": "8",
    }
    page = page_at("/generate", params=params, dark=True, viewport=(1024, 768))
    answer = widget(page, "answer").locator(".answer")
    assert answer.locator("b").count() == 0
    assert "<b>bold</b>" in answer.inner_text()
    choose(page, "closer", "Streaming to a client")
    assert "data: [DONE]" in page.get_by_test_id("stCode").inner_text()
