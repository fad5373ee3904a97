"""A class on one server: thirty sessions with thirty prompts, and how long each of them waits.

    python -m benchmarks.class_of_thirty                 # once
    python -m benchmarks.class_of_thirty --minutes 20    # again and again, to watch the memory

The sessions speak Streamlit's own messages, without browsers. First one person goes through the
lesson alone, then the whole class does: a new prompt at some moment of half a minute, six pages,
the temperature on the LM head page, about 4 s between two actions of a session; then everybody
acts within one second, and in the end all press "Write 20" within one second. A kind of action
begins when all have done the one before, so that time, computing and passes of the model belong to
it. What the server has computed is read from `/proc` (Linux alone) and from a counter in its
model's layers.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.counted_run import COUNTER, read_counter
from benchmarks.table import digits
from benchmarks.visitor import Visitor, Widget
from tests.browser.harness.server import AppServer

ROOT = Path(__file__).resolve().parent.parent
PROMPTS = tuple((ROOT / "benchmarks" / "prompts_of_a_class.txt").read_text("utf-8").splitlines())
BEGINNINGS = ("", "Read this: ", "On Monday: ", "In my notes: ", "He said: ", "She wrote: ")
"""What stands before the prompts in the rounds, so that no round finds the last one's results."""

PAGES = ("tokenizer", "embedding", "attention", "feed-forward", "sampling", "lm-head")
THINK = 4.0
"""Mean seconds between two actions of a session."""
LAYERS = 30
"""Of the default model; so many layers that ran count as one pass."""
TOKENS = 20
"""That one press of the button writes."""

TARGET = ROOT / "docs" / "benchmarks.md"
TITLE = "## A class of thirty"
WORDS = (
    "Each session has its own prompt and acts every 4 s; alone, one person does the same. Under "
    "“passes each” stands how often the model was run per action, readings through the LM head "
    "alone and the pass in which answers are written not counted; under “CPU each” what the "
    "server computed per action, all cores together. At the first pages this counts the sliders "
    "in, which the others move meanwhile."
)
Action = Callable[[], Awaitable["float | list[float]"]]


JOBS = (
    ("a sweep over all heads", "attention", {"zoom": "Take a part away"}, "Take each head away"),
    ("fifty guarded answers", "guardrails", {"guard": "All guards"}, "Run every guard"),
    ("training", "training", {"lesson": "One step of learning"}, "Teach it"),
)
"""Long jobs of one more session: what it is, the page, its link, the button."""


@dataclass
class Kind:
    """All actions of one kind."""

    name: str
    budget: float | None = None
    """Seconds at the 95th percentile."""
    seconds: list[float] = field(default_factory=list)
    cpu: float = 0.0
    """Seconds that the server's process computed meanwhile, all cores together."""
    passes: float = 0.0
    """How often it ran the model meanwhile; a replay of some layers is a part of a pass."""
    wall: float = 0.0

    def at(self, share: float) -> float:
        """Return the seconds within which a share of the actions was done."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]

    def cells(self, alone: Kind | None) -> tuple[str, ...]:
        """Return the row's texts."""
        count = len(self.seconds)
        met = "" if self.budget is None else "yes" if self.at(0.95) <= self.budget else "**no**"
        return (
            self.name,
            f"{count}",
            f"{self.at(0.5):.2f} s",
            f"{self.at(0.95):.2f} s",
            "" if self.budget is None else f"≤ {self.budget:g} s",
            met,
            f"{self.passes / count:.2f}",
            f"{1000 * self.cpu / count:,.0f} ms",
            "" if alone is None else f"{alone.at(0.5):.2f} s",
        )


HEAD = ("what", "n", "p50", "p95", "budget at p95", "met", "passes each", "CPU each", "one alone")


class Watch:
    """Reads what the server has computed, and sums it up by kind of action."""

    def __init__(self, server: AppServer, counter: Path) -> None:
        """Watch a server that counts into the file `counter`."""
        self.kinds: dict[str, Kind] = {}
        self._server = server
        self._counter = counter

    async def all(self, name: str, budget: float | None, actions: Sequence[Action]) -> None:
        """Do actions of one kind side by side, and wait for the last.

        Each returns the seconds that it took, one number or several of a kind.
        """
        kind = self.kinds.setdefault(name, Kind(name, budget))
        start, cpu, layers = time.perf_counter(), self._cpu(), read_counter(self._counter)
        for seconds in await asyncio.gather(*(action() for action in actions)):
            kind.seconds += seconds if isinstance(seconds, list) else [seconds]
        kind.wall += time.perf_counter() - start
        kind.cpu += self._cpu() - cpu
        kind.passes += (read_counter(self._counter) - layers) / LAYERS

    def memory(self, entry: str = "VmRSS") -> float:
        """Return the megabytes that the process holds; with `VmHWM` the most that it has held."""
        status = Path(f"/proc/{self._server.pid}/status").read_text("utf-8")
        return int(status.split(f"{entry}:")[1].split()[0]) / 1000

    def _cpu(self) -> float:
        fields = Path(f"/proc/{self._server.pid}/stat").read_text("utf-8").rpartition(") ")[2]
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Student:
    """One session of the class: the prompt is its own, and so is the pace."""

    def __init__(self, visitor: Visitor, number: int, think: float) -> None:
        """Sit down; `think` is the mean of the seconds before each action."""
        self.visitor = visitor
        self._number = number
        self._rng = random.Random(number)
        self._think = think
        self._prompt = PROMPTS[0]

    async def pause(self) -> None:
        """Think for a while: half the mean to one and a half of it."""
        await asyncio.sleep(self._think * self._rng.uniform(0.5, 1.5))

    async def within_a_second(self) -> None:
        """Wait for a part of a second, each session another."""
        await asyncio.sleep(self._rng.random())

    def take_prompt(self, turn: int) -> None:
        """Have a prompt in mind that nobody has had before, for the next first page."""
        beginning = BEGINNINGS[turn % len(BEGINNINGS)]
        turns = turn // len(BEGINNINGS)
        again = f" {turns}" if turns else ""
        self._prompt = beginning + PROMPTS[self._number % len(PROMPTS)] + again

    async def first_page(self) -> float:
        """Open the overview with a new prompt, at some moment of half a minute.

        A class does not take new prompts all in one breath: until its own, each session goes on
        with the slider of the page that it has open.
        """
        for _ in range(self._rng.randrange(8)):
            await self.pause()
            if any("Temperature" in one.label for one in self.visitor.of_kind("slider")):
                await self._move()
        await self.pause()
        self.visitor.ask(prompt=self._prompt)
        return await self.visitor.open("")

    async def first_page_at_once(self) -> float:
        """Open the overview when everybody does."""
        await self.within_a_second()
        self.visitor.ask(prompt=self._prompt)
        return await self.visitor.open("")

    async def pages(self) -> list[float]:
        """Go through the pages."""
        times = []
        for page in PAGES:
            await self.pause()
            times.append(await self.visitor.open(page))
        return times

    async def page_at_once(self) -> float:
        """Go to one of the pages when everybody goes to one."""
        await self.within_a_second()
        return await self.visitor.open(self._rng.choice(PAGES))

    async def slider(self, moves: int = 5) -> list[float]:
        """Move the temperature on the page that is open."""
        times = []
        for _ in range(moves):
            await self.pause()
            times.append(await self._move())
        return times

    async def _move(self) -> float:
        value = round(self._rng.uniform(0.3, 1.8), 2)
        return await self.visitor.set(self._widget("slider", "Temperature"), value)

    async def write(self) -> float:
        """Press the button that writes; return the seconds until all tokens are there."""
        await self.within_a_second()
        return await self.visitor.press(self._widget("button", f"Write {TOKENS}"))

    async def first_token(self) -> float:
        """Return after how many seconds the answer that was written had its first token."""
        return self.visitor.first_change or float("inf")

    def _widget(self, kind: str, label: str) -> Widget:
        return next(one for one in self.visitor.of_kind(kind) if label in one.label)


async def lesson(students: Sequence[Student], watch: Watch, turn: int) -> None:
    """Let all go through the lesson once, each with a new prompt."""
    for student in students:
        student.take_prompt(turn)
    await watch.all("a new prompt's first page", 1, [one.first_page for one in students])
    await watch.all("a page change, prompt unchanged", 0.3, [one.pages for one in students])
    await watch.all("a slider, prompt unchanged", 0.3, [one.slider for one in students])


async def together(students: Sequence[Student], watch: Watch, turn: int) -> None:
    """Let all act within one second: a page each, then a new prompt each, then an answer each."""
    await watch.all("all change the page", 5, [one.page_at_once for one in students])
    for student in students:
        student.take_prompt(turn)
    await watch.all("all come with a new prompt", 5, [one.first_page_at_once for one in students])
    done = f"all press “Write {TOKENS}”: all done"
    await watch.all(done, 10, [one.write for one in students])
    await watch.all("the same: first token", 1.5, [one.first_token for one in students])


async def attend(port: int, watch: Watch, count: int, think: float, turns: range) -> list[str]:
    """Let `count` sessions go through the lesson, and act together; return what went wrong."""
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(Visitor(port)) for _ in range(count)]
        students = [Student(visitor, i, think) for i, visitor in enumerate(visitors)]
        for turn in turns[:-1]:
            await lesson(students, watch, turn)
        await together(students, watch, turns[-1])
    return [sentence for visitor in visitors for sentence in visitor.exceptions]


async def beside(port: int, watch: Watch, count: int) -> None:
    """Let the class go on while one more session does a long job, one job after the other."""
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(Visitor(port)) for _ in range(count)]
        students = [Student(visitor, i, THINK) for i, visitor in enumerate(visitors)]
        for turn, (name, page, link, button) in enumerate(JOBS):
            for student in students:
                student.take_prompt(10 * len(BEGINNINGS) + turn)
            await asyncio.gather(*(one.first_page() for one in students))
            busy = asyncio.create_task(_keep_busy(port, page, link, button))
            await watch.all(f"a page change beside {name}", 0.6, [one.pages for one in students])
            await watch.all(f"a slider beside {name}", 0.6, [one.slider for one in students])
            if busy.done():
                busy.result()  # says what was wrong
            busy.cancel()


async def _keep_busy(port: int, page: str, link: Mapping[str, str], button: str) -> None:
    """Do a job again and again, each time with another prompt, until this is cancelled."""
    for prompt in itertools.cycle(PROMPTS):
        async with Visitor(
            port, prompt=f"{prompt} And so it went on for the whole day", **link
        ) as v:
            await v.open(page)
            await v.press(v.buttons(button)[0])


async def measure(
    server: AppServer, counter: Path, count: int, minutes: float, *, jobs: bool
) -> str:
    """Return the report."""
    warm, alone, watch = (Watch(server, counter) for _ in range(3))
    errors = await attend(server.port, warm, 1, 0.5, range(4, 6))  # imports, compiling, layouts
    errors += await attend(server.port, alone, 1, 1.0, range(3))
    before = watch.memory()
    rounds = [f"| 0 | {before:,.0f} MB |"]
    start, turn = time.monotonic(), 3
    while True:
        errors += await attend(server.port, watch, count, THINK, range(turn, turn + 3))
        passed, turn = (time.monotonic() - start) / 60, turn + 3
        rounds.append(f"| {passed:.0f} | {watch.memory():,.0f} MB |")
        if passed >= minutes:
            break
    if jobs:
        await beside(server.port, watch, count)
    errors += server.trouble()
    for error in errors:
        print(error, file=sys.stderr)
    return report(watch, alone, rounds, count, len(errors))


def report(watch: Watch, alone: Watch, rounds: list[str], count: int, errors: int) -> str:
    """Return the tables as Markdown."""
    rows = [HEAD, tuple("---" for _ in HEAD)]
    rows += [kind.cells(alone.kinds.get(name)) for name, kind in watch.kinds.items()]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    written = next(kind for kind in watch.kinds.values() if "Write" in kind.name)
    speed = TOKENS * len(written.seconds) / written.wall
    return (
        f"{table}\n\n"
        f"While all wrote, {digits(speed)} tokens a second came in all. "
        f"The process held {watch.memory('VmHWM'):,.0f} MB at most; {errors} errors.\n\n"
        "| minute | memory |\n|---|---|\n" + "\n".join(rounds)
    )


def keep(text: str, command: str) -> None:
    """Put the report into docs/benchmarks.md, in place of the last one."""
    before = TARGET.read_text(encoding="utf-8")
    start = before.find(TITLE)
    start = len(before) if start < 0 else start
    end = before.find("\n## ", start + len(TITLE))
    after = "" if end < 0 else before[end:]
    section = f"{TITLE}\n\n`{command}` on {os.cpu_count()} cores. {WORDS}\n\n{text}\n"
    TARGET.write_text(f"{before[:start].rstrip()}\n\n{section}{after}", encoding="utf-8")


def main() -> int:
    """Start a server, let the class come, and print what it waited for."""
    parser = argparse.ArgumentParser(description="Let a class of thirty use one server.")
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=0, help="repeat until so many have passed")
    parser.add_argument("--jobs", action="store_true", help="also beside three long jobs")
    parser.add_argument("--write", action="store_true", help="put the report into the docs")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counter = Path(folder) / "layers"
        with AppServer(
            Path(folder) / "server.log",
            start=ROOT / "benchmarks" / "counted_run.py",
            env={COUNTER: str(counter)},
        ) as server:
            text = asyncio.run(
                measure(server, counter, wanted.sessions, wanted.minutes, jobs=wanted.jobs)
            )
    print(text)
    if wanted.write:
        keep(text, " ".join(["python -m benchmarks.class_of_thirty", *sys.argv[1:]]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
