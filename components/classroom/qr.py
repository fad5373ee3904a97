"""A QR code as one path of an SVG picture, made on this machine."""

from __future__ import annotations

from dataclasses import dataclass

import segno

BORDER = 4
"""Empty modules around the code, which scanners need."""


@dataclass(frozen=True)
class Code:
    """A QR code."""

    size: int
    """Modules in a row, with the border."""
    path: str
    """The dark modules, as the `d` of a path: a stroke along the middle of each run."""


def qr(text: str) -> Code:
    """Return the QR code of a text, readable with up to 15 % of it damaged (level M)."""
    rows = [bytes(row) for row in segno.make(text, error="m", micro=False).matrix]
    strokes = []
    for y, row in enumerate(rows):
        x = 0
        while x < len(row):
            end = x
            while end < len(row) and row[end]:
                end += 1
            if end > x:
                strokes.append(f"M{x + BORDER} {y + BORDER + 0.5:g}h{end - x}")
            x = end + 1
    return Code(len(rows) + 2 * BORDER, "".join(strokes))
