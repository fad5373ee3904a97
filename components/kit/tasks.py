"""One task of the view “Try this”: what to do, whether it is done, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One thing to try on a page, with a target that the page can check."""

    text: str
    """What to do, as Markdown of this project's own words."""
    done: bool
    """Whether the current state of the page meets the target."""
    now: str
    """Where it stands now, in a few words."""
