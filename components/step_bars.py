"""One step of the sampling chain as a card's picture: its formula, its bars, its facts.

Small and plain on purpose: nine of them are drawn anew at each move of a slider.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from components import theme
from components.sampling_rows import Row

_ASSETS = Path(__file__).parent / "assets"


def with_colours(css: str) -> str:
    """Put this project's colours into a style sheet of the sampling pictures."""
    for name, colour in (
        ("ACCENT_NEUTRAL", theme.NEUTRAL),
        ("ACCENT_KEPT", theme.ACCENT),
        ("ACCENT_CUT", theme.CUT),
        ("ACCENT_PICKED", theme.PICKED),
        ("ACCENT_NEGATIVE", theme.NEGATIVE),
    ):
        css = css.replace(name, colour)
    return css


_COMPONENT = st.components.v2.component(
    "token_by_token_step_bars",
    html='<div class="bars"></div>',
    css=with_colours((_ASSETS / "step_bars.css").read_text(encoding="utf-8")),
    js=(_ASSETS / "step_bars.js").read_text(encoding="utf-8"),
)


def step_bars(
    rows: list[Row],
    *,
    key: str,
    formula: str,
    facts: str,
    note: str = "",
    active: bool = True,
    alt: str,
) -> None:
    """Draw one step.

    Args:
        rows: from `sampling_rows`.
        key: unique on the page.
        formula: one line, plain text.
        facts: what the step did, in numbers; line breaks stay.
        note: what else is worth saying.
        active: whether the step is on; else it is drawn pale.
        alt: what the bars show, for screen readers.
    """
    _COMPONENT(key=key, data=payload(rows, formula, facts, note, active, alt))


def payload(
    rows: list[Row], formula: str, facts: str, note: str, active: bool, alt: str
) -> dict[str, Any]:
    """Return what the browser needs."""
    sizes = [max(row.before, row.after) for row in rows if row.kind == "token"]
    return {
        "rows": [row.message() for row in rows],
        "scale": max(sizes, default=0.0) or 1.0,
        "formula": formula,
        "facts": facts,
        "note": note,
        "active": active,
        "alt": alt,
    }
