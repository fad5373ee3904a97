"""The browser tier: one server and one Chromium a worker, and a page that is watched throughout.

Every page that a test opens fails that test on a console error, an uncaught error, a visible
exception or a request that leaves the machine; the server's log must be free of warnings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.harness.actions import TIMEOUT, wait_for_model
from tests.browser.harness.chromium import HOW_TO_GET_ONE, find_chromium, launch
from tests.browser.harness.server import AppServer
from tests.browser.harness.watch import Watch

HERE = Path(__file__).parent
DESKTOP = (1440, 900)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, so that `-m "not browser"` leaves the tier out."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, object]:
    """Give all skips of the tier one place, so that the summary says it in one line."""
    report = yield
    if report.skipped and HOW_TO_GET_ONE in str(report.longrepr):
        report.longrepr = (str(HERE), 1, HOW_TO_GET_ONE)
    return report


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the browser's path, or skip the tier (with REQUIRE_BROWSER set: fail)."""
    path = find_chromium()
    if path is None and os.environ.get("REQUIRE_BROWSER"):
        pytest.fail(HOW_TO_GET_ONE.replace("are skipped", "cannot run"))
    if path is None:
        pytest.skip(HOW_TO_GET_ONE)
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """Return the browser of this worker."""
    with sync_playwright() as playwright:
        instance = launch(playwright, chromium)
        yield instance
        instance.close()


@pytest.fixture(scope="session")
def server(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """Return the running app of this worker, with the default model."""
    log = tmp_path_factory.mktemp("server") / "server.log"
    with AppServer(log) as running:
        yield running
    assert_healthy(running)


def assert_healthy(server: AppServer) -> None:
    trouble = server.trouble()
    assert not trouble, f"the server's log speaks of trouble: {trouble}\n{server.text()}"


@dataclass
class Visits:
    """Opens pages, each in a browser context (cookies, storage) of its own, and watches them."""

    browser: Browser
    home: Callable[[], AppServer]
    """Gives the worker's server; a call, so that a test with a cold one never starts it."""
    watches: list[tuple[BrowserContext, Watch]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What went wrong on pages that are closed."""

    def __call__(
        self,
        path: str = "/",
        *,
        params: dict[str, str] | None = None,
        viewport: tuple[int, int] = DESKTOP,
        dark: bool = False,
        server: AppServer | None = None,
        ready: bool = True,
    ) -> Page:
        """Open a page.

        Args:
            path: the page's path, such as `/sampling`.
            params: parameters of the link, such as prompt and temperature.
            viewport: width and height in CSS pixels.
            dark: ask for the dark theme, as the operating system would.
            server: another server than the worker's own.
            ready: wait until the model is there and everything is drawn.
        """
        width, height = viewport
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            locale="en-GB",
        )
        context.set_default_timeout(TIMEOUT)
        self.watches.append((context, Watch(context)))
        page = context.new_page()
        query = f"?{urlencode(params)}" if params else ""
        page.goto(f"{(server or self.home()).url}{path}{query}")
        if ready:
            wait_for_model(page)
        return page

    def watch_of(self, page: Page) -> Watch:
        """Return the watch over a page."""
        return next(watch for context, watch in self.watches if context == page.context)

    def close(self) -> None:
        """Close every page, keeping what went wrong on it."""
        for context, watch in self.watches:
            self.problems += watch.problems()
            context.close()
        self.watches.clear()


@pytest.fixture
def page_at(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visits]:
    """Return `page_at(path, params=…, dark=…)`, which opens a watched page."""
    visits = Visits(browser, home=lambda: request.getfixturevalue("server"))
    yield visits
    visits.close()
    assert not visits.problems, "\n".join(visits.problems)


@pytest.fixture
def cold_server(page_at: Visits, tmp_path: Path) -> Iterator[AppServer]:
    """Return an app of this test alone that no session has visited."""
    with AppServer(tmp_path / "server.log") as running:
        yield running
        page_at.close()  # before the server, which its pages would miss
    assert_healthy(running)
