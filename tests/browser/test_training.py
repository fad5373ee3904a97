"""The training page on the default model."""

from __future__ import annotations

from tests.browser.harness.actions import wait_for_model


def test_canberra_passes_sydney_by_learning(page_at):
    page = page_at("/training", params={"lesson": "One step of learning"})
    wait_for_model(page)
    page.get_by_text("Recorded.").wait_for()
    page.get_by_role("button", name="Teach it, 8 times").click()
    page.get_by_text("Recorded.").wait_for(state="detached", timeout=90_000)
    page.get_by_role("button", name="Stop").wait_for(state="detached", timeout=90_000)
    page.get_by_text("passes ·Sydney").first.wait_for()


def test_training_from_nothing_is_stopped_and_keeps_what_it_has(page_at):
    page = page_at("/training", viewport=(1024, 768), dark=True)
    wait_for_model(page)
    page.get_by_role("button", name="Train a new one here").click()
    page.get_by_text("Step 1").first.wait_for(timeout=60_000)
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Look inside it after step").wait_for(timeout=30_000)
