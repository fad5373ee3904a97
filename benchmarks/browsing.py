"""What people wait for in the browser: sliders, page changes, the first page, the payload."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from benchmarks.peer import PROMPT
from benchmarks.table import Row
from components.shell.stages import STAGES, Stage
from tests.browser.harness.actions import TIMEOUT, visit, wait_for_model, widget
from tests.browser.harness.chromium import HOW_TO_GET_ONE, find_chromium, launch
from tests.browser.harness.server import AppServer

SLIDER_MOVES = 15
VISITS = 3
SETTLED = 1_000
"""Milliseconds after which a slider's charts are drawn. Asking the page whether it is idle, at each
of its frames, would slow down what is measured."""

STOPWATCH = """
window.started = undefined;
window.lastDrawn = undefined;
const start = () => { window.started ??= performance.now(); };
for (const kind of ['keydown', 'click']) document.addEventListener(kind, start, true);
const watched = { subtree: true, childList: true, attributes: true, characterData: true };
const drawn = () => { window.lastDrawn = performance.now(); };
new MutationObserver((records) => {
  if (records.some(({ target }) => target.parentElement?.closest('.js-plotly-plot'))) drawn();
}).observe(document, watched);
// The project's own pictures draw below a shadow root, where only an observer of its own looks.
const attachShadow = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  const root = attachShadow.call(this, options);
  new MutationObserver(drawn).observe(root, watched);
  return root;
};
"""
"""Notes when a person acted and when a chart last changed after that."""


def measure() -> list[Row]:
    """Start the app and use it as a class does."""
    chromium = find_chromium()
    if chromium is None:
        print(HOW_TO_GET_ONE.replace("tests are", "benchmarks are"))
        return []
    # The browser comes first: people have theirs open when they start the app.
    with (
        sync_playwright() as playwright,
        launch(playwright, chromium) as browser,
        _running() as (server, since),
    ):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(TIMEOUT)
        sizes: list[int] = []
        page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))),
        )
        page.add_init_script(STOPWATCH)
        rows = [_first_page(page, server.url, since), _page_changes(page), _slider(page)]
        sizes.clear()
        rows += _payloads(page, sizes, server.url)
    return rows


@contextmanager
def _running() -> Iterator[tuple[AppServer, float]]:
    """Yield a server that nobody has visited, and when its start began."""
    with tempfile.TemporaryDirectory() as folder:
        since = time.perf_counter()
        with AppServer(Path(folder) / "server.log") as server:
            yield server, since


def _first_page(page: Page, home: str, since: float) -> Row:
    """Open the overview on a server that has just been started."""
    page.goto(home)
    page.get_by_text("a recorded run").wait_for()
    painted = time.perf_counter() - since
    wait_for_model(page)
    return Row(
        "start with the weights in the cache, to a usable first page",
        time.perf_counter() - since,
        5,
        "s",
        note=f"a recorded run is shown after {painted:.1f} s",
    )


def _page_changes(page: Page) -> Row:
    """Visit every page a few times with the same prompt; the first round fills the caches."""
    times: dict[str, list[float]] = {stage.title: [] for stage in STAGES}
    for turn in range(1 + VISITS):
        for stage in (*STAGES[1:], STAGES[0]):
            milliseconds = _timed(page, stage)
            if turn > 0 and milliseconds is not None:
                times[stage.title].append(milliseconds)
    medians = {title: statistics.median(values) for title, values in times.items() if values}
    slowest = max(medians, key=lambda title: medians[title])
    median = statistics.median(medians.values())
    return Row(
        "going to another page with the same prompt, slowest page, to its last chart",
        medians[slowest],
        700,
        "ms",
        note=f"{slowest}; the median page takes {median:.0f} ms",
    )


def _payloads(page: Page, sizes: list[int], home: str) -> list[Row]:
    """Visit every page once with a prompt of some 64 tokens, and weigh what the server sends."""
    page.goto(f"{home}?{urlencode({'prompt': PROMPT * 2})}")
    wait_for_model(page)
    largest = {STAGES[0].key: max(sizes)}
    for stage in STAGES[1:]:
        sizes.clear()
        visit(page, stage.key)
        largest[stage.key] = max(sizes)
    heads = largest.pop("attention") / 1e3
    fullest = max(largest, key=lambda key: largest[key])
    return [
        Row(
            "largest message with a figure, 64 tokens",
            largest[fullest] / 1e3,
            300,
            "kB",
            note=fullest,
        ),
        Row("the same on the attention page, which shows all heads", heads, 500, "kB"),
    ]


def _timed(page: Page, stage: Stage) -> float | None:
    """Return the milliseconds from the click to the last change of a chart; None without one."""
    page.evaluate("() => { window.started = undefined; window.lastDrawn = undefined; }")
    visit(page, stage.key)
    return _elapsed(page)


def _elapsed(page: Page) -> float | None:
    passed = page.evaluate("() => window.lastDrawn - window.started")
    return float(passed) if passed is not None and passed == passed else None


def _slider(page: Page) -> Row:
    """Move the temperature on the sampling page, a step at a time."""
    visit(page, "sampling")
    thumb = widget(page, "temperature").locator("input[type=range]")
    times = []
    for _ in range(SLIDER_MOVES):
        page.evaluate("() => { window.started = undefined; window.lastDrawn = undefined; }")
        thumb.press("ArrowLeft")
        page.wait_for_timeout(SETTLED)
        passed = _elapsed(page)
        if passed is not None:
            times.append(passed)
    note = f"{min(times):.0f} to {max(times):.0f} ms"
    return Row(
        "a slider on the sampling page, release to redrawn chart, median",
        statistics.median(times),
        200,
        "ms",
        note=note,
    )
