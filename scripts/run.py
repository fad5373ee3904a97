"""Start the app: on port 8501 or the next free one, with a browser where there is a screen.

`make run` calls this; by hand it is `python scripts/run.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import socket
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # started by its path, it finds only its own folder
FIRST_PORT = 8501
TRIES = 50


def is_free(host: str, port: int) -> bool:
    """Return whether a server can listen on `port` of `host`."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # A port whose last connections are still closing is free for the server too.
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(host: str, first: int = FIRST_PORT) -> int:
    """Return the first free port from `first` on.

    Raises:
        SystemExit: none of the next ports is free, or `host` is no address of this machine.
    """
    for port in range(first, first + TRIES):
        if is_free(host, port):
            return port
    sys.exit(f"No free port from {first} to {first + TRIES - 1} on {host}: choose one with PORT=…")


def has_display() -> bool:
    """Return whether a browser window can be shown from here."""
    if sys.platform in {"darwin", "win32"}:
        return "SSH_CONNECTION" not in os.environ
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def arguments(app: Path, host: str, port: int, *, browser: bool) -> list[str]:
    """Return what `streamlit` is called with to serve the app."""
    return [
        "run",
        str(app),
        "--server.address",
        host,
        "--server.port",
        str(port),
        "--server.headless",
        "false" if browser else "true",
        "--server.showEmailPrompt",
        "false",
    ]


def warm_up() -> None:
    """Begin to import what the model needs, on a thread of its own.

    That takes seconds. The server listens and the browser opens meanwhile, which need little of
    this process; whoever imports the same after that waits for what is not there yet.
    """

    def load() -> None:
        # What is wrong with an import is said on the page, by the loader that needs it.
        with contextlib.suppress(Exception):
            for module in (
                "engine.model.model",
                "engine.network.few_rows_kernel",
                "engine.network.decode_kernel",
            ):
                importlib.import_module(module)

    threading.Thread(target=load, name="warm-up", daemon=True).start()


def serve(command: list[str], *, warm: bool) -> None:
    """Run Streamlit in this process.

    Streamlit takes a folder named `pages` for its old kind of multipage app until `st.navigation`
    has run once, and greets a visitor whose first link leads to a page with “Page not found”. It
    is told before the first visit.

    To print its address, a server that listens everywhere asks a service on the internet for it.
    Nothing is to leave this machine, so that question is answered here.

    Args:
        command: from `arguments`.
        warm: begin to import at once what the model needs.
    """
    from streamlit import net_util
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.web import cli

    PagesManager.uses_pages_directory = False
    net_util.get_external_ip = lambda: None
    if warm:
        warm_up()
    cli.main(command, prog_name="streamlit")


def main() -> int:
    """Serve the app until it is stopped with Ctrl+C."""
    parser = argparse.ArgumentParser(description="Start Token by Token.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, help="port (default: 8501 or the next free one)")
    parser.add_argument("--app", type=Path, default=ROOT / "app.py", help="script to serve")
    parser.add_argument("--no-browser", action="store_true", help="open no browser window")
    wanted = parser.parse_args()
    port = wanted.port if wanted.port is not None else free_port(wanted.host)
    if wanted.port is None and port != FIRST_PORT:
        print(f"Port {FIRST_PORT} is in use; taking {port}.", flush=True)
    app = wanted.app.resolve()
    os.chdir(app.parent)
    browser = has_display() and not wanted.no_browser
    serve(arguments(app, wanted.host, port, browser=browser), warm=app == ROOT / "app.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
