"""Run the benchmarks; all of them together write docs/benchmarks.md."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from pathlib import Path

from benchmarks.table import Row, as_markdown
from engine.basics.errors import EngineError

TARGET = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
NAMES = ("tracing", "decoding", "speculating", "browsing")


def report(rows: list[Row]) -> str:
    """Return the text of docs/benchmarks.md."""
    import torch
    import transformers

    return (
        "# Benchmarks\n\n"
        "The budgets of this project, measured by `make bench` as ratios in one run. Each side of "
        "a ratio uses the same weights, threads and machine, and the sides take turns.\n\n"
        f"Measured on {os.cpu_count()} cores ({platform.machine()}), {torch.get_num_threads()} "
        f"torch thread(s), no GPU; Python {platform.python_version()}, torch {torch.__version__}, "
        f"transformers {transformers.__version__}.\n\n"
        f"{as_markdown(rows)}\n"
    )


def later_sections(text: str) -> str:
    """Return what stands in docs/benchmarks.md after the table: longer runs, made by hand."""
    start = text.find("\n## ")
    return text[start:] if start >= 0 else ""


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all of them, and write the table if it is whole."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"No benchmark {unknown[0]!r}; there are {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for name in names or NAMES:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            rows += importlib.import_module(f"benchmarks.{name}").measure()
        except EngineError as error:
            print(error, file=sys.stderr)
            return 1
    text = report(rows)
    if not names:
        TARGET.parent.mkdir(exist_ok=True)
        before = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        TARGET.write_text(text + later_sections(before), encoding="utf-8")
    print(text if not names else as_markdown(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
