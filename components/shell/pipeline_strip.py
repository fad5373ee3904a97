"""The pipeline strip: one chip per stage with this prompt's own fact, each chip a link to its page.

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
    help: str = ""
    """The stage's question, shown while the pointer rests on the chip."""


@dataclass(frozen=True)
class StripEvent:
    """What a person did with the strip, and how much room its window has."""

    chosen: str | None
    """Key of the stage whose chip was just clicked, in exactly one run after the click."""
    present: bool | None
    """Whether to present from now on; None unless it was just asked for."""
    words: bool
    """Whether the signs and words were just asked for."""
    narrow: bool
    """Whether the window is too narrow for an open sidebar."""


def pipeline_strip(
    chips: Sequence[StageChip], *, presenting: bool, narrow: bool, key: str = "pipeline_strip"
) -> StripEvent:
    """Draw the strip and return what was just done with it.

    Args:
        chips: one per stage.
        presenting: whether the page is being presented: larger, and led by the arrow keys.
        narrow: whether the window is known to be narrow.
        key: of the widget.
    """
    result = _COMPONENT(
        key=key,
        data=payload(chips, presenting=presenting, narrow=narrow),
        on_chosen_change=lambda: None,
        on_present_change=lambda: None,
        on_words_change=lambda: None,
        on_narrow_change=lambda: None,
    )
    chosen, present = result.chosen, result.present
    return StripEvent(
        chosen=chosen if any(chip.key == chosen for chip in chips) else None,
        present=present if isinstance(present, bool) else None,
        words=result.words is True,
        narrow=narrow or result.narrow is True,
    )


def payload(chips: Sequence[StageChip], *, presenting: bool, narrow: bool) -> dict[str, Any]:
    """Return what the browser needs."""
    return {
        "chips": [asdict(chip) for chip in chips],
        "presenting": presenting,
        "narrow": narrow,
    }
