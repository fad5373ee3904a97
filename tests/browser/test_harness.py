"""The harness itself: it waits for the right answer and notices each kind of fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.harness.actions import (
    choose,
    press_button,
    select,
    set_slider,
    switch,
    type_text,
    widget,
)
from tests.browser.harness.server import AppServer

SAMPLE = Path(__file__).parent / "harness" / "sample_app.py"


@pytest.fixture(scope="module")
def sample(chromium, tmp_path_factory):
    log = tmp_path_factory.mktemp("sample") / "server.log"
    quiet = {"STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false"}
    with AppServer(log, app=SAMPLE, env=quiet) as running:
        yield running


def test_each_action_waits_for_its_answer_and_a_page_without_a_fault_is_clean(page_at, sample):
    page = page_at("/", server=sample)
    answer = widget(page, "answer")
    assert answer.inner_text() == "1.0 0 heads False hello False"
    set_slider(page, "temperature", 0.35)
    assert answer.inner_text() == "0.35 0 heads False hello False"
    set_slider(page, "temperature", 0)
    assert answer.inner_text() == "0.0 0 heads False hello False"
    select(page, "layer", "12")
    choose(page, "view", "layers")
    switch(page, "chat")
    type_text(page, "prompt", "a <b> and $x$")
    assert answer.inner_text() == "0.0 12 layers True a <b> and $x$ False"
    press_button(page, "go")
    assert answer.inner_text() == "0.0 12 layers True a <b> and $x$ True"
    assert page.locator(".js-plotly-plot .main-svg").first.is_visible()
    with pytest.raises(ValueError, match=r"from 0\.0 to 2\.0"):
        set_slider(page, "temperature", 3)
    assert page_at.watch_of(page).problems() == []


@pytest.mark.parametrize(
    ("fault", "report"),
    [
        ("console", "console error: a complaint"),
        ("uncaught", "nowhere is not defined"),
        ("foreign", "leaves the machine: http://picture.example/x.png"),
        ("exception", "exception on"),
    ],
)
def test_a_fault_on_a_page_is_noticed(page_at, sample, fault, report):
    page = page_at("/", server=sample, params={"fault": fault})
    watch = page_at.watch_of(page)
    page.wait_for_timeout(300)
    problems = watch.problems()
    assert any(report in problem for problem in problems), problems
    if fault == "exception":
        assert any("ValueError: a fault" in line for line in sample.trouble()), sample.text()
    page.close()
    watch.allow("")
