"""One visitor at the heaviest things there are, while another one moves a slider.

    python -m benchmarks.heaviest

Each task runs alone against a server of its own model. Beside it a second visitor moves the
temperature on the sampling page all the time; what counts is how long each move takes until the
page is drawn. The table goes into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.visitor import Visitor, Widget
from components.shell.stages import STAGES
from tests.browser.harness.server import AppServer

Task = Callable[[int], Coroutine[Any, Any, None]]
"""Takes the port of the server."""
SECONDS = 25.0
"""How long a task is watched; what is over earlier, until then."""
FEWEST = 20
"""Moves that are awaited in any case."""
PAUSE = 0.2
"""Seconds between two moves, as of a hand."""
LIMIT = 1.0
"""Seconds that 95 of 100 moves may take."""
WORD = "word "
FLAGS = "🇩🇪🇫🇷" * 200
"""800 characters of two letters each that make a flag."""


@dataclass(frozen=True)
class Measured:
    """How long the other's moves took, in seconds, beside one task."""

    task: str
    moves: tuple[float, ...]
    took: float
    """Seconds that were watched."""

    def share(self, part: float) -> float:
        """Return what this part of the moves stayed within."""
        ordered = sorted(self.moves)
        return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def key_of(widget: Widget) -> str:
    """Return the key that the app gave a widget."""
    return widget.id.rsplit("-", 1)[-1]


def named(visitor: Visitor, key: str) -> Widget:
    """Return the widget with this key."""
    return next(one for one in visitor.widgets.values() if key_of(one) == key)


async def at_the_cap(port: int) -> None:
    """Open every page with a prompt at the cap, another one each time."""
    for number, stage in enumerate(STAGES):
        prompt = f"{number} " + WORD * 252
        async with Visitor(port, prompt=prompt) as visitor:
            await visitor.open(stage.url)


def pressing(page: str, key: str, **link: str) -> Task:
    """Return the task of opening a page and pressing the button with this key."""

    async def task(port: int) -> None:
        async with Visitor(port, **link) as visitor:
            await visitor.open(page)
            await visitor.press(named(visitor, key))

    return task


def opening(page: str, **link: str) -> Task:
    """Return the task of opening a page."""

    async def task(port: int) -> None:
        async with Visitor(port, **link) as visitor:
            await visitor.open(page)

    return task


LONG = WORD * 240
TASKS: Mapping[str, Task] = {
    "nothing": lambda port: asyncio.sleep(SECONDS),
    "a prompt at the cap on every page": at_the_cap,
    "beams of width 5 over 12 tokens": opening(
        "sampling", lab="Beam search", beam_width="5", beam_tokens="12", prompt=LONG
    ),
    "an answer of 200 tokens": opening("generate", max_new_tokens="200", prompt=LONG),
    "a race with the model's first layers": pressing(
        "speculative", "race", draft="Early exit", guesses="8", max_new_tokens="200"
    ),
    "fifty runs of every guard": pressing("guardrails", "compare"),
    "training from nothing": pressing("training", "tiny", lesson="From nothing"),
    "all heads taken away, one by one": pressing(
        "attention", "sweep", zoom="Take a part away", prompt=LONG
    ),
    "800 flags in both orders": opening(
        "embedding", vectors="Order", order_first=FLAGS, order_second=FLAGS[::-1]
    ),
    "800 flags as the prompt": opening("tokenizer", prompt=FLAGS),
}


async def _move(port: int, moves: list[float]) -> None:
    """Move the temperature to and fro, noting how long each move takes."""
    async with Visitor(port) as visitor:
        await visitor.open("sampling")
        values = (0.3, 0.9, 1.4, 0.6, 1.1)
        moves.clear()
        while True:
            for value in values:
                moves.append(await visitor.set(named(visitor, "temperature"), value))
                await asyncio.sleep(PAUSE)


async def beside(port: int, name: str, task: Task) -> Measured:
    """Run one task beside somebody who moves a slider.

    Raises:
        TimeoutError: Somebody got no answer.
    """
    moves: list[float] = []
    other = asyncio.create_task(_move(port, moves))
    while len(moves) < 3 and not other.done():
        await asyncio.sleep(0.1)
    moves.clear()
    start = time.perf_counter()
    heavy = asyncio.create_task(task(port))
    await asyncio.wait({heavy, other}, timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED)
    while len(moves) < FEWEST and not other.done():
        await asyncio.sleep(0.1)
    took = time.perf_counter() - start
    for ended in (other, heavy):
        if ended.done():
            ended.result()
        while not ended.done():  # a wait that ends at this very moment would swallow one
            ended.cancel()
            await asyncio.sleep(0.2)
    return Measured(name, tuple(moves), took)


def table(found: Sequence[Measured]) -> str:
    """Return what was measured as Markdown."""
    lines = [
        "| what one visitor does | watched | moves | median | 95 of 100 within | slowest |",
        "|---|---|---|---|---|---|",
    ]
    for one in found:
        lines.append(
            f"| {one.task} | {one.took:.0f} s | {len(one.moves)} | {one.share(0.5):.2f} s | "
            f"{one.share(0.95):.2f} s | {max(one.moves):.2f} s |"
        )
    return "\n".join(lines)


def main() -> int:
    """Measure every task, print the table, and fail if somebody had to wait."""
    parser = argparse.ArgumentParser(description="The heaviest tasks beside a slider.")
    parser.add_argument("only", nargs="*", help="words of the tasks to measure; all without")
    wanted = parser.parse_args()
    names = [name for name in TASKS if not wanted.only or any(word in name for word in wanted.only)]
    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        AppServer(Path(folder) / "server.log") as server,
    ):
        for name in names:
            found.append(asyncio.run(beside(server.port, name, TASKS[name])))
            print(table(found[-1:]).splitlines()[-1], flush=True)
        trouble = server.trouble()
    print(table(found))
    print("\n".join(trouble), file=sys.stderr)
    return 1 if trouble or any(one.share(0.95) > LIMIT for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
