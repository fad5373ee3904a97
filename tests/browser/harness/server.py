"""The app as users start it: one `streamlit run app.py` on a free port, with its log kept."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 120.0

TROUBLE = re.compile(
    r"traceback \(most recent call last\)|\b\w*(?:error|exception|warning)\b|\bcritical\b|deprecat",
    re.IGNORECASE,
)
"""What no line of a healthy server's log holds."""

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class AppServer:
    """A running app. Use it as a context manager; `url` is its address, without a slash."""

    def __init__(
        self,
        log: Path,
        *,
        app: Path | None = None,
        start: Path | None = None,
        env: Mapping[str, str] | None = None,
    ):
        """Describe a server.

        Args:
            log: file that takes what the server prints.
            app: the script to serve; the project's own by default.
            start: the script that starts the server; `scripts/run.py` by default.
            env: variables on top of this process's.
        """
        self.app = app or ROOT / "app.py"
        self._start = start or ROOT / "scripts" / "run.py"
        self.log = log
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        # One thread each, since test workers share the cores; and the code does not change here.
        self._env = {
            **os.environ,
            "TOKEN_BY_TOKEN_THREADS": "1",
            "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
            **(env or {}),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> AppServer:
        command = [
            sys.executable,
            str(self._start),
            "--app",
            str(self.app),
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--no-browser",
        ]
        with self.log.open("wb") as sink:
            self._process = subprocess.Popen(
                command, cwd=self.app.parent, env=self._env, stdout=sink, stderr=subprocess.STDOUT
            )
        try:
            self._wait_for_health()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the server; a second call does nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        assert self._process is not None, "the server is not running"
        return self._process.pid

    def text(self) -> str:
        """Return everything that the server has printed, without colours."""
        return COLOUR.sub("", self.log.read_text(encoding="utf-8", errors="replace"))

    def trouble(self) -> list[str]:
        """Return the lines of the log that speak of an error or a warning."""
        return [line for line in self.text().splitlines() if TROUBLE.search(line)]

    def _wait_for_health(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended while starting:\n{self.text()}")
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise RuntimeError(f"no answer after {START_SECONDS:.0f} s:\n{self.text()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
