"""One step of the sampling chain as a card's picture: its formula, its bars, its facts.

Small and plain on purpose: nine of them are drawn anew at each move of a slider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from components.kit import theme
from components.sampling.rows import Row

_ASSETS = Path(__file__).parent


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


def step_bars(data: Mapping[str, Any], *, key: str) -> None:
    """Draw one step.

    Args:
        data: from `payload`.
        key: unique on the page.
    """
    _COMPONENT(key=key, data=dict(data))


def payload(
    rows: Sequence[Row], *, formula: str, facts: str, note: str, active: bool, alt: str
) -> dict[str, Any]:
    """Return what the browser needs.

    Args:
        rows: from `sampling_rows`.
        formula: one line, plain text.
        facts: what the step did, in numbers; line breaks stay.
        note: what else is worth saying.
        active: whether the step is on; else it is drawn pale.
        alt: what the bars show, for screen readers.
    """
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
