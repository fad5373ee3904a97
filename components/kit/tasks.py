"""One task of the view “Try this”: what to do, whether it is done, and where it can be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Task:
    """One thing to try on a page, with a target that the page can check."""

    text: str
    """What to do, as Markdown of this project's own words."""
    done: bool
    """Whether the current state of the page meets the target."""
    now: str
    """Where it stands now, in a few words, as Markdown."""
    hint: str
    """A push in the right direction, as Markdown of this project's own words."""
    place: Mapping[str, str] = field(default_factory=dict)
    """What must be open on the page's first view to do it: parameters of the link and values."""
