"""One walk through the ten guesses in a browser, on a tiny model: closed, guessed, told, checked.

That the numbers are the engine's is tested in `tests/app/test_lesson.py`, where no browser is.
"""

from __future__ import annotations

from components.lesson.steps import STEPS
from components.shell.stages import STAGES, stage
from tests.app.conftest import save_tiny
from tests.browser.conftest import assert_healthy
from tests.browser.harness.actions import chip, press_button, wait_until_idle, widget
from tests.browser.harness.server import AppServer
from tests.tiny import tiny_network


def test_a_walk_through_all_ten_guesses_and_the_check(page_at, tmp_path):
    folder = save_tiny(tmp_path / "tiny", tiny_network("llama"))
    env = {"TOKEN_BY_TOKEN_MODELS": str(folder)}
    with AppServer(tmp_path / "server.log", env=env) as server:
        walk(page_at("/", viewport=(1024, 768), server=server))
        page_at.close()  # before the server, which its pages would miss
    assert_healthy(server)


def walk(page) -> None:
    press_button(page, "lesson_enter")
    for number, step in enumerate(STEPS, 1):
        heading = page.get_by_role("heading", level=1)
        assert heading.inner_text() == step.question
        assert not widget(page, "main_picture").count()
        for entry in STAGES:
            assert chip(page, entry.key).inner_text() == (entry.short or entry.title)
        bar = widget(page, "lesson_bar").bounding_box()
        assert bar["y"] + bar["height"] <= 120
        press_button(page, "lesson_option_0")
        widget(page, "main_picture").first.wait_for()
        assert f"/{stage(step.page).url}?" in page.url
        assert f"ten_guesses={number}" in page.url
        told = heading.first.inner_text()
        assert told.startswith(("You said", "You were right"))
        assert page.get_by_text("Try to break it:").is_visible()
        press_button(page, "lesson_next")
    check(page)


def check(page) -> None:
    page.reload()  # the guesses are in the address alone
    wait_until_idle(page)
    for number, step in enumerate(STEPS):
        group = widget(page, f"lesson_check_{number}")
        group.get_by_text("True" if step.statement_is_true else "False", exact=True).click()
    wait_until_idle(page)
    press_button(page, "lesson_next")
    held = sum(step.options[0].belief for step in STEPS)
    assert page.get_by_role("heading", level=1).inner_text() == (
        f"You changed your mind on {held} of 10. 10 of your 10 answers here are right."
    )
