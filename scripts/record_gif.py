"""Film the overview while it writes a few tokens: docs/overview.gif, for the README.

Starts the app, opens it in the machine's own Chromium and needs what requirements-dev.txt installs:
`python -m scripts.record_gif`.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import Error, sync_playwright

from scripts.run import free_port

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "overview.gif"
SIZE: ViewportSize = {"width": 1440, "height": 900}
WIDTH = 900
"""Pixels of the film."""
TOKENS = 2
FRAMES = 30
"""Per token: the light needs about seven seconds for its way at the fast pace."""
PAUSE_MS = 220
COLOURS = 96
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


def frame(page: Page) -> Image.Image:
    """Return the page as it stands, small."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return shot.resize((WIDTH, round(shot.height * WIDTH / shot.width)), Image.Resampling.LANCZOS)


def open_when_there(page: Page, address: str) -> None:
    """Open the address as soon as the server listens.

    Raises:
        SystemExit: it does not within a minute.
    """
    for _ in range(60):
        try:
            page.goto(address)
        except Error:
            page.wait_for_timeout(1_000)
        else:
            return
    sys.exit(f"Nothing listens at {address}")


def film(address: str, browser: str) -> list[Image.Image]:
    """Open the overview, press "Next token" a few times and return what is seen meanwhile."""
    idle = "[data-testid=stApp][data-test-script-state=notRunning]"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport=SIZE, color_scheme="light")
        open_when_there(page, address)
        page.locator(".st-key-next_token button:enabled").wait_for(timeout=180_000)
        page.wait_for_selector(idle)
        page.locator(".walk select").select_option("fast")
        frames = [frame(page)] * 4
        for _ in range(TOKENS):
            page.locator(".st-key-next_token button").click()
            page.mouse.move(5, 450)
            for _ in range(FRAMES):
                page.wait_for_timeout(PAUSE_MS)
                frames.append(frame(page))
        chromium.close()
    return [*frames, *([frames[-1]] * 4)]


def save(frames: list[Image.Image]) -> None:
    """Write the film with one palette for all frames, so that what stands still costs nothing."""
    palette = frames[len(frames) // 2].quantize(COLOURS)
    reduced = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in frames]
    reduced[0].save(
        TARGET, save_all=True, append_images=reduced[1:], duration=PAUSE_MS, loop=0, optimize=True
    )


def main() -> int:
    """Film, write the file and say how large it is."""
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("No Chromium found: apt-get install chromium, or name yours with CHROMIUM=…")
    port = free_port("127.0.0.1")
    command = [sys.executable, "scripts/run.py", "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as server:
        try:
            frames = film(f"http://127.0.0.1:{port}/", browser)
        finally:
            server.terminate()
    save(frames)
    print(f"{TARGET.relative_to(ROOT)}: {len(frames)} frames, {TARGET.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
