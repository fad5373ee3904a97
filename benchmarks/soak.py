"""A long day in minutes: sessions walk the pages at random, and the server's memory is watched.

    python -m benchmarks.soak --minutes 20 --sessions 10

Each session opens pages, moves sliders, presses whatever button there is, stops or leaves in the
middle of writing, and from time to time comes through a hostile link. Memory, threads and file
handles are read from `/proc`, so the server's numbers are there on Linux alone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.visitor import Visitor
from components.shell.stages import STAGES
from tests.browser.harness.server import AppServer
from tests.hostile import hostile_link

PROMPTS = (
    "The capital of France is",
    "Why is the sky blue?",
    "one two three one two three one",
    "Ein Satz auf Deutsch, und noch einer.",
    "🎉 <b>x</b> " * 8,
    "The cat sat on the mat. " * 30,
)
PATIENT = 4.0
"""Seconds that a session watches a job before it stops it or leaves."""


@dataclass(frozen=True)
class Sample:
    """The server at one moment."""

    minutes: float
    megabytes: float
    threads: int
    handles: int
    sessions: int
    actions: int


@dataclass
class Soak:
    """What happened."""

    samples: list[Sample] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    sessions: int = 0
    actions: int = 0

    def table(self, rows: int = 12) -> str:
        """Return the samples as Markdown, evenly over the whole time."""
        count = min(rows, len(self.samples))
        places = {round(i * (len(self.samples) - 1) / max(count - 1, 1)) for i in range(count)}
        lines = [
            "| minute | memory | threads | file handles | sessions so far | actions so far |",
            "|---|---|---|---|---|---|",
        ]
        for place in sorted(places):
            one = self.samples[place]
            lines.append(
                f"| {one.minutes:.1f} | {one.megabytes:,.0f} MB | {one.threads} | {one.handles} | "
                f"{one.sessions} | {one.actions:,} |"
            )
        return "\n".join(lines)


def soak(
    minutes: float, sessions: int, *, seed: int = 0, env: Mapping[str, str] | None = None
) -> Soak:
    """Start a server and walk through it.

    Args:
        minutes: How long.
        sessions: How many visitors at a time.
        seed: Of the walks. What the server answers when also decides on the way.
        env: Further variables of the server.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        AppServer(Path(folder) / "server.log", env=env) as server,
    ):
        found = asyncio.run(_walks(server, minutes * 60, sessions, seed))
        found.errors += server.trouble()
    return found


async def _walks(server: AppServer, seconds: float, sessions: int, seed: int) -> Soak:
    """Let all sessions walk until the time is over, and watch the server."""
    found, start = Soak(), time.monotonic()
    walks = [
        asyncio.create_task(
            _walk(server.port, random.Random(f"{seed} {i}"), found, start + seconds)
        )
        for i in range(sessions)
    ]
    every = max(2.0, seconds / 100)
    while time.monotonic() - start < seconds:
        found.samples.append(_sample(server.pid, found, start))
        await asyncio.sleep(every)
    await asyncio.gather(*walks)
    found.samples.append(_sample(server.pid, found, start))
    return found


async def _walk(port: int, rng: random.Random, found: Soak, end: float) -> None:
    """Come and go, one session after the other."""
    while time.monotonic() < end:
        hostile = rng.random() < 0.25
        link = hostile_link(rng) if hostile else {"prompt": rng.choice(PROMPTS)}
        found.sessions += 1
        try:
            async with Visitor(port, **link) as visitor:
                await visitor.open(rng.choice(STAGES).url)
                for _ in range(rng.randint(0, 12)):
                    if time.monotonic() > end:
                        break
                    await _act(visitor, rng)
                    found.actions += 1
                if rng.random() < 0.3 and (buttons := visitor.buttons()):
                    await visitor.press(rng.choice(buttons), wait=False)  # and leave at once
        except TimeoutError:
            found.errors.append(f"no answer within the time: {link}")
        found.errors += visitor.exceptions


async def _act(visitor: Visitor, rng: random.Random) -> None:
    """Do one thing that the page offers."""
    await asyncio.sleep(rng.random())
    chance = rng.random()
    sliders, buttons = visitor.of_kind("slider"), visitor.buttons()
    if chance < 0.45 and sliders:
        slider = rng.choice(sliders)
        low, high, step = slider.drawn.min, slider.drawn.max, slider.drawn.step or 1
        steps = int((high - low) / step)
        await visitor.set(slider, low + step * rng.randint(0, steps))
    elif chance < 0.65 and buttons:
        await visitor.press(rng.choice(buttons), wait=False)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(visitor.finish(), rng.random() * PATIENT)
        if stops := visitor.buttons("Stop"):
            await visitor.press(rng.choice(stops))
    else:
        await visitor.open(rng.choice(STAGES).url)


def _sample(pid: int, found: Soak, start: float) -> Sample:
    """Read the server's numbers."""
    process = Path(f"/proc/{pid}")
    fields = dict(
        line.split(":", 1) for line in (process / "status").read_text(encoding="utf-8").splitlines()
    )
    return Sample(
        minutes=(time.monotonic() - start) / 60,
        megabytes=int(fields["VmRSS"].split()[0]) / 1000,
        threads=int(fields["Threads"]),
        handles=len(list((process / "fd").iterdir())),
        sessions=found.sessions,
        actions=found.actions,
    )


def main() -> int:
    """Walk for some minutes and print the table."""
    parser = argparse.ArgumentParser(description="Walk through the app at random for a while.")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    found = soak(wanted.minutes, wanted.sessions, seed=wanted.seed)
    print(found.table())
    for error in found.errors:
        print(error, file=sys.stderr)
    print(f"\n{found.sessions} sessions, {found.actions:,} actions, {len(found.errors)} errors.")
    return 1 if found.errors else 0


if __name__ == "__main__":
    sys.exit(main())
