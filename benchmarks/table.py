"""One line of the table of budgets, the table itself, and how times are compared."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measured budget."""

    what: str
    """What was measured, in words."""
    value: float
    budget: float
    unit: str
    """Such as "× the time", "MB", "ms"."""
    at_least: bool = False
    """Whether the budget is a floor and not a ceiling."""
    note: str = ""
    """What else is worth knowing: the two sides of a ratio, the spread."""

    @property
    def met(self) -> bool:
        """Whether the value is within its budget."""
        return self.value >= self.budget if self.at_least else self.value <= self.budget

    def cells(self) -> tuple[str, ...]:
        """Return the row's texts, in the order of the table's columns."""
        sign = "≥" if self.at_least else "≤"
        return (
            self.what,
            f"{digits(self.value)} {self.unit}",
            f"{sign} {self.budget:g} {self.unit}",
            "yes" if self.met else "**no**",
            self.note,
        )


def digits(value: float) -> str:
    """Return a number with the digits that matter: three."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def as_markdown(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    head = ("what", "measured", "budget", "met", "note")
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *(row.cells() for row in rows))]
    lines.insert(1, "|---|---|---|---|---|")
    return "\n".join(lines)


def compare(
    contestants: Mapping[str, Callable[[], object]], *, rounds: int, warm_up: int = 2
) -> dict[str, float]:
    """Time several functions side by side.

    They take turns, so that a machine that slows down slows all of them.

    Args:
        contestants: the functions by name.
        rounds: how often each is called.
        warm_up: calls of each beforehand that do not count.

    Returns:
        The median seconds of each.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(warm_up + rounds):
        for name, function in contestants.items():
            start = time.perf_counter()
            function()
            if turn >= warm_up:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}
