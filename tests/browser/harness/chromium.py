"""Finds the machine's own Chromium: the tests never download a browser."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

# The shell has no windows, tabs or toolbars to build: a page opens in a quarter of the time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
)
MACOS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No other name resolves: a request that should not be made fails here, and is reported.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
HOW_TO_GET_ONE = (
    "no Chromium found, so the browser tests are skipped. Get one with `apt-get install chromium`, "
    "or name yours: CHROMIUM=/path/to/chrome make test"
)


def find_chromium() -> str | None:
    """Return the path of a Chromium or Chrome, `$CHROMIUM` first, or None."""
    chosen = os.environ.get("CHROMIUM")
    if chosen:
        return shutil.which(chosen)
    found = (shutil.which(name) for name in (*NAMES, *MACOS))
    return next((path for path in found if path), None)


def launch(playwright: Playwright, executable: str) -> Browser:
    """Start the browser without a window."""
    return playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
