"""What stands side by side where there is room for it, and under each other where there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

LEAST = 300
"""Pixels below which a figure is too narrow for its labels."""

FULL, HALF, THIRD = 560, 470, 300
"""Pixels that a figure has for certain where one, two or three stand side by side.

At 1024 × 768 the page is one column of 564 pixels beside the sidebar; at 1440 × 900 it is 980 wide
and has room for figures side by side.
"""


def side_by_side(*parts: int) -> list[DeltaGenerator]:
    """Return containers beside each other, as wide as `parts` say; on a narrow page, stacked."""
    grid = st.grid(sum(parts), min_column_width=LEAST, gap="medium")
    return [grid.cell(column_span=part) for part in parts]


def formulas(*lines: str) -> None:
    """Draw LaTeX formulas under each other: side by side they are wider than a small screen."""
    st.latex(r"\begin{gathered} " + r" \\[0.6em] ".join(lines) + r" \end{gathered}")
