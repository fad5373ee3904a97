"""The steps of the chain as one line of chips, in the order of work; a press opens a card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from components.kit.browser import component
from components.sampling.step_bars import COLOURS


@dataclass(frozen=True)
class StepChip:
    """One step on the line."""

    name: str
    label: str
    value: str
    """What it is set to; empty while it is off."""
    on: bool
    open: bool
    """Whether its card is open."""


_COMPONENT = component("sampling/step_line", '<ol class="steps"></ol>', colours=COLOURS)


def step_line(chips: Sequence[StepChip], *, key: str) -> str | None:
    """Draw the line and return the step that was just pressed, if any.

    Args:
        chips: one per step, in the order of work.
        key: unique on the page.
    """
    result = _COMPONENT(
        key=key,
        data={"chips": [asdict(chip) for chip in chips]},
        on_pressed_change=lambda: None,
    )
    pressed = result.pressed
    return pressed if any(chip.name == pressed for chip in chips) else None
