"""How numbers are written on the screen, with the digits that matter."""

from __future__ import annotations

PERCENT_COLUMN = "%.2f %%"
"""The format of a table's column of numbers in 0…100, so that they are sorted as numbers."""


def percent(share: float) -> str:
    """Write a share: 77 %, 4.2 %, 0.03 %, < 0.01 %. Only what is all of it is 100 %."""
    value = 100 * share
    if 99 <= value < 100:
        return f"{min(value, 99.99):.4g} %"
    if value >= 10:
        return f"{value:.0f} %"
    if value >= 1:
        return f"{value:.1f} %"
    if value >= 0.01:
        return f"{value:.2g} %"
    return "< 0.01 %" if value > 0 else "0 %"


def size(count: int) -> str:
    """Return a number of bytes in kB or MB."""
    return f"{count / 1000:,.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:,.1f} MB"
