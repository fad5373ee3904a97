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
    """Write a number of bytes in steps of a thousand: 80 bytes, 46 kB, 1.4 MB, 2.5 GB."""
    value, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    whole = unit == "bytes" or value >= 9.95
    return f"{value:,.0f} {unit}" if whole else f"{value:.1f} {unit}"
