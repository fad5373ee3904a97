"""Fetch the default model into the user's cache, if it is not there yet, and show the progress.

The app does this by itself at its first start. Ahead of a class, or of tests that run side by
side, it is done once from the command line: `python -m scripts.fetch_weights`.
"""

from __future__ import annotations

import sys

from engine.basics.errors import EngineError
from engine.model.weights import Progress, default_folder


class Printer:
    """Prints a line for each tenth of a stage."""

    def __init__(self) -> None:
        self._last: tuple[str, int] | None = None

    def __call__(self, progress: Progress) -> None:
        """Take one report of `engine.model.weights`."""
        if progress.note:
            print(progress.note, flush=True)
        tenth = 10 * progress.done // progress.total if progress.total else 0
        if self._last == (progress.stage, tenth):
            return
        self._last = (progress.stage, tenth)
        print(f"{progress.stage}: {tenth * 10} %", flush=True)


def main() -> int:
    """Fetch, convert and check; say where the files are."""
    try:
        folder = default_folder(Printer())
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The default model is in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
