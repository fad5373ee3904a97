"""The pipeline strip: one chip per stage with this prompt's own fact, each chip a link to its page.

A click leads to the other page within the session (`lead.js`), where an ordinary link would load
the app anew. So does whatever in the page sends the event `token-by-token-lead` with a stage's key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from components.kit.browser import component

_COMPONENT = component(
    "shell/pipeline_strip", '<nav class="strip" aria-label="Pipeline">\n</nav>', scripts=["lead"]
)


@dataclass(frozen=True)
class StageChip:
    """One chip, in plain values. Label and fact are shown literally."""

    key: str
    label: str
    fact: str
    """This prompt's own fact, such as `6 tokens`; empty until the model has run."""
    url: str = ""
    """The end of its page's address; empty for the first page."""
    current: bool = False
    guard: bool = False
    """Whether the chip carries a shield: a guardrail stands here."""
    help: str = ""
    """The stage's question, shown while the pointer rests on the chip."""


@dataclass(frozen=True)
class StripEvent:
    """What a person did with the strip, and how much room its window has."""

    present: bool | None
    """Whether to present from now on; None unless it was just asked for."""
    words: bool
    """Whether the signs and words were just asked for."""
    narrow: bool
    """Whether the window is too narrow for an open sidebar."""


def pipeline_strip(
    chips: Sequence[StageChip],
    *,
    presenting: bool,
    narrow: bool,
    shared: Sequence[str] = (),
    fresh: Sequence[str] = (),
    key: str = "pipeline_strip",
) -> StripEvent:
    """Draw the strip and return what was just done with it.

    Args:
        chips: one per stage.
        presenting: whether the page is being presented: larger, and led by the arrow keys.
        narrow: whether the window is known to be narrow.
        shared: parameters of the address that go along to another page.
        fresh: parameters that no page has again when it is opened by a chip.
        key: of the widget.
    """
    result = _COMPONENT(
        key=key,
        data=payload(chips, presenting=presenting, narrow=narrow, shared=shared, fresh=fresh),
        on_present_change=lambda: None,
        on_words_change=lambda: None,
        on_narrow_change=lambda: None,
    )
    present = result.present
    return StripEvent(
        present=present if isinstance(present, bool) else None,
        words=result.words is True,
        narrow=narrow or result.narrow is True,
    )


def payload(
    chips: Sequence[StageChip],
    *,
    presenting: bool,
    narrow: bool,
    shared: Sequence[str] = (),
    fresh: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what the browser needs."""
    return {
        "chips": [asdict(chip) for chip in chips],
        "presenting": presenting,
        "narrow": narrow,
        "shared": [*shared],
        "fresh": [*fresh],
    }
