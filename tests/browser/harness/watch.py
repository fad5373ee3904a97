"""Watches one browser context and reports everything that must not happen on any page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, WebError

BASE_PATH_PROBE = re.compile(r"//[^/]+/[^?#]+/_stcore/(health|host-config)$")
"""On a deep link Streamlit's page looks for the server below the page's own path first, gets a 404
and then finds it at the root; Chromium reports each 404 on the console."""

HOME_HOSTS = {"127.0.0.1", "localhost"}
LOCAL_SCHEMES = {"data", "blob", "about", "chrome-error"}


class Watch:
    """Collects console errors, page errors and foreign requests of a context."""

    def __init__(self, context: BrowserContext):
        self._context = context
        self._seen: list[str] = []
        context.on("console", self._on_console)
        context.on("weberror", self._on_web_error)
        context.on("request", self._on_request)
        context.on("page", self._on_page)

    def allow(self, text: str) -> None:
        """Forget the problems that contain `text`: for a test that provokes them."""
        self._flush()
        self._seen = [problem for problem in self._seen if text not in problem]

    def problems(self) -> list[str]:
        """Return all that was seen, and the exceptions that stand on open pages now."""
        return self._flush() + [
            f"exception on {page.url}: {text}"
            for page in self._context.pages
            if not page.is_closed()
            for text in page.get_by_test_id("stException").all_inner_texts()
        ]

    def _flush(self) -> list[str]:
        # Events arrive while Playwright is called, so one call fetches those that are waiting.
        for page in self._context.pages:
            if not page.is_closed():
                page.wait_for_timeout(20)
        return self._seen

    def _on_console(self, message: ConsoleMessage) -> None:
        address = str(message.location.get("url", ""))
        if message.type == "error" and not BASE_PATH_PROBE.search(address):
            self._seen.append(f"console error: {message.text} ({address})")

    def _on_web_error(self, failure: WebError) -> None:
        self._seen.append(f"uncaught error: {failure.error}")

    def _on_request(self, request: Request) -> None:
        self._check_address(request.url)

    def _on_page(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._check_address(socket.url))

    def _check_address(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in LOCAL_SCHEMES and parts.hostname not in HOME_HOSTS:
            self._seen.append(f"request that leaves the machine: {url}")
