"""A teacher and three students, one of them on a phone: join, follow, a round, reveal, leave."""

from __future__ import annotations

import re

from components.shell.stages import stage
from tests.browser.conftest import DESKTOP
from tests.browser.harness.actions import (
    chip,
    press_button,
    type_prompt,
    widget,
)

PHONE, LAPTOP = (390, 844), (1024, 768)
MARKUP = "<b>x</b> $y$"


def join(page_at, code: str, name: str, viewport: tuple[int, int] = DESKTOP, *, typed=False):
    """Return the page of a student who has joined, by the link or by typing the code."""
    page = page_at("/tokenizer", viewport=viewport, params={} if typed else {"room": code})
    if typed:
        page.get_by_text("A class together").click()
        page.get_by_label("Code of a room").fill(code.lower())
        page.get_by_label("Code of a room").press("Enter")
    page.get_by_label("Your name").fill(name)
    widget(page, "join_room").get_by_role("button", name="Join", exact=True).click()
    page.get_by_text(f"You follow · room {code}").wait_for()
    return page


def shows(page, key: str, prompt: str) -> None:
    """Wait until a student's page is this one, with this prompt."""
    page.wait_for_url(re.compile(f"/{stage(key).url}\\?"))
    page.wait_for_function(
        "text => new URLSearchParams(location.search).get('prompt') === text", arg=prompt
    )


def test_a_class_joins_follows_guesses_and_leaves(page_at):
    teacher = page_at("/tokenizer", params={"prompt": "The cat sat"})
    teacher.get_by_text("A class together").click()
    press_button(teacher, "open_room", wait=False)
    card = widget(teacher, "class_screen")
    code = card.locator(".code").inner_text()
    assert card.locator("svg path").get_attribute("d")
    assert "leads to this computer only" in card.inner_text(), "127.0.0.1 is nobody else's"

    ada = join(page_at, code, "Ada", PHONE)
    bob = join(page_at, code, MARKUP, typed=True)
    eve = join(page_at, code, "", LAPTOP)
    card.get_by_text("3 are here").wait_for()
    press_button(teacher, "show_page", wait=False)
    for student in (ada, bob, eve):
        shows(student, "tokenizer", "The cat sat")

    # Whoever types a prompt of their own explores alone, and comes back with one press.
    type_prompt(eve, "My own words")
    eve.get_by_text("You explore alone").wait_for()
    chip(teacher, "lm_head").click()
    teacher.get_by_role("heading", level=1, name=stage("lm_head").question).wait_for()
    box = teacher.get_by_role("textbox", name="Prompt", exact=True)
    box.fill("The capital of France is")
    box.press("Enter")
    for student in (ada, bob):
        shows(student, "lm_head", "The capital of France is")
    shows(eve, "tokenizer", "My own words")
    eve.get_by_role("button", name="Follow the class").click()
    shows(eve, "lm_head", "The capital of France is")

    # A reload of either side keeps the place, and no address holds a key.
    ada.reload()
    ada.get_by_text(f"You follow · room {code} · Ada").wait_for()
    press_button(teacher, "ask_next", wait=False)
    for student, word in ((ada, "Paris"), (bob, MARKUP), (eve, "unquestionably")):
        student.get_by_label("The next word, or a part of one").fill(word)
        student.get_by_role("button", name="Send").click()
        student.get_by_text("until the reveal").wait_for()
        assert "77" not in student.locator("body").inner_text()
    teacher.get_by_text("3 of 3").wait_for()
    assert "77" not in teacher.locator("body").inner_text()
    teacher.reload()
    press_button(teacher, "reveal", wait=False)
    for page in (teacher, ada, bob, eve):
        page.get_by_text(re.compile(r"came\. \d of 3 said it")).wait_for()
        assert page.get_by_text(MARKUP).count()
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")

    bob.context.close()
    teacher.get_by_text("2 here, 2 follow").wait_for()
    teacher.get_by_text("A class together").click()
    press_button(teacher, "close_room", wait=False)
    for page in (teacher, ada, eve):
        page.get_by_text("The room is closed").wait_for()
        widget(page, "class_row").wait_for(state="detached")
