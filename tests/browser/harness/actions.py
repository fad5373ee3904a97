"""What a person does on a page, by the keys of the widgets, and how to wait for the answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TIMEOUT = 120_000
"""Milliseconds that a page may take, with a cold model on a busy machine."""
QUIET = 250
"""Milliseconds without work after which a page counts as idle."""

IDLE = """
(quiet) => {
  const app = document.querySelector('[data-testid="stApp"]');
  const busy = '[data-testid="stSkeleton"], [data-testid="stAppSkeleton"], '
    + '[data-testid="stSpinner"], [data-stale="true"]';
  const idle = app !== null
    && app.dataset.testScriptState === 'notRunning'
    && app.dataset.testConnectionState === 'CONNECTED'
    && document.querySelector('[data-testid="stMain"] [data-testid="stElementContainer"]') !== null
    && document.querySelector(busy) === null;
  const now = performance.now();
  if (!idle) { window.idleSince = undefined; return false; }
  window.idleSince ??= now;
  return now - window.idleSince >= quiet;
}
"""
"""The script has run to its end, nothing is stale or a placeholder, and it stayed so."""


def widget(page: Page, key: str) -> Locator:
    """Return the element or widget with this key."""
    return page.locator(f".st-key-{re.sub(r'[^a-zA-Z0-9_-]', '-', key)}")


def wait_until_idle(page: Page, *, quiet: int = QUIET, timeout: int = TIMEOUT) -> None:
    """Wait until the script has ended and everything that it made is drawn."""
    page.evaluate("() => { window.idleSince = undefined; }")
    page.wait_for_function(IDLE, arg=quiet, timeout=timeout)


def wait_for_model(page: Page, *, timeout: int = TIMEOUT) -> None:
    """Wait until the model is loaded and the page shows its numbers."""
    wait_until_idle(page, timeout=timeout)
    loading = page.locator(".st-key-loading")
    if loading.count():
        loading.wait_for(state="detached", timeout=timeout)
        wait_until_idle(page, timeout=timeout)


def set_slider(page: Page, key: str, value: float, *, wait: bool = True) -> None:
    """Move a slider with one thumb to `value`, as a hand would: by a last step of the keyboard.

    Raises:
        ValueError: the slider cannot stand at `value`.
    """
    thumb = widget(page, key).locator("input[type=range]")
    low, high, step = (float(thumb.get_attribute(name) or 0) for name in ("min", "max", "step"))
    if not low <= value <= high:
        raise ValueError(f"slider {key!r} goes from {low} to {high}, not to {value}")
    # Filling alone moves the thumb and is not yet a release; the arrow key is both.
    from_below = value - step >= low
    thumb.fill(_number(value - step if from_below else value + step))
    thumb.press("ArrowRight" if from_below else "ArrowLeft")
    if abs(float(thumb.input_value()) - value) > step / 1000:
        raise ValueError(f"slider {key!r} has no step at {value}: it is at {thumb.input_value()}")
    if wait:
        wait_until_idle(page)


def select(page: Page, key: str, option: str) -> None:
    """Choose `option` in a select box."""
    box = widget(page, key).get_by_role("combobox")
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).click()
    wait_until_idle(page)


def type_text(page: Page, key: str, text: str) -> None:
    """Replace the text of a text area or input and commit it."""
    field = widget(page, key).locator("textarea, input").first
    field.fill(text)
    field.press("Control+Enter" if field.evaluate("e => e.tagName") == "TEXTAREA" else "Enter")
    wait_until_idle(page)


def type_prompt(page: Page, text: str) -> None:
    """Replace the prompt and apply it with Enter."""
    field = page.get_by_role("textbox", name="Prompt", exact=True)
    field.fill(text)
    field.press("Enter")
    wait_until_idle(page)


def press_button(page: Page, key: str, *, wait: bool = True) -> None:
    """Press the button with this key."""
    widget(page, key).get_by_role("button").first.click()
    if wait:
        wait_until_idle(page)


def switch(page: Page, key: str) -> None:
    """Turn a toggle or a checkbox over."""
    widget(page, key).locator("label").first.click()
    wait_until_idle(page)


def choose(page: Page, key: str, option: str) -> None:
    """Choose `option` of a segmented control, pills or a group of radio buttons."""
    group = widget(page, key)
    group.get_by_role("radio", name=option, exact=True).or_(
        group.get_by_role("button", name=option, exact=True)
    ).first.click()
    wait_until_idle(page)


def open_tab(page: Page, name: str) -> None:
    """Open one of the page's three views."""
    choose(page, "view", name)


def chip(page: Page, stage: str) -> Locator:
    """Return the chip of a stage in the pipeline strip, by the stage's key."""
    return widget(page, "pipeline_strip").locator(f'[data-stage="{stage}"]')


def visit(page: Page, stage: str) -> None:
    """Go to the page of a stage, named by its key, through the pipeline strip."""
    chip(page, stage).click()
    there = page.locator('[aria-current="page"]')
    chip(page, stage).and_(there).wait_for()
    wait_for_model(page)


def _number(value: float) -> str:
    return f"{value:.10f}".rstrip("0").rstrip(".")
