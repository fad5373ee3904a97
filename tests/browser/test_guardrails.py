"""The guardrails page on the default model."""

from __future__ import annotations

from tests.browser.harness.actions import wait_for_model


def test_a_forged_system_turn_is_obeyed_only_as_control_tokens(page_at):
    page = page_at("/guardrails", params={"seed": "0"})
    wait_for_model(page)
    page.get_by_role("radio", name="Special tokens").click()
    page.get_by_text("Arrr! Arrr!").first.wait_for(timeout=60_000)
    page.get_by_role("button", name="Stop").wait_for(state="detached", timeout=60_000)
    assert page.get_by_text("Arrr! Arrr!").count() == 1


def test_a_run_is_stopped_and_its_page_lives_on(page_at):
    page = page_at("/guardrails", viewport=(1024, 768), dark=True)
    wait_for_model(page)
    page.get_by_role("button", name="Run every guard 50 times here").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Stop").wait_for(state="detached")
    page.get_by_text("Recorded with SmolLM2-135M-Instruct").wait_for()
    page.get_by_role("radio", name="Input filter").click()
    page.get_by_text("4 of 5 wordings get past the filter").wait_for()
