"""The pipeline strip: one chip a stage with this prompt's own fact, each chip a link to its page.

A click comes back to Python, which switches the page: the session and its state live on, where an
ordinary link would load the app anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from components.kit.browser import component

_COMPONENT = component("shell/pipeline_strip", '<nav class="strip" aria-label="Pipeline">\n</nav>')


@dataclass(frozen=True)
class StageChip:
    """One chip, in plain values. Label and fact are shown literally."""

    key: str
    label: str
    fact: str
    """This prompt's own fact, such as `6 tokens`; empty until the model has run."""
    current: bool = False
    guard: bool = False
    """Whether the chip carries a shield: a guardrail stands here."""


def pipeline_strip(chips: Sequence[StageChip], *, key: str = "pipeline_strip") -> str | None:
    """Draw the strip and return the key of the chip that was just clicked, if any.

    The result is not None in exactly one run after a click; `st.switch_page` belongs there.
    """
    result = _COMPONENT(key=key, data=payload(chips), on_chosen_change=lambda: None)
    chosen = result.chosen
    return chosen if any(chip.key == chosen for chip in chips) else None


def payload(chips: Sequence[StageChip]) -> dict[str, Any]:
    """Return what the browser needs."""
    return {"chips": [asdict(chip) for chip in chips]}
