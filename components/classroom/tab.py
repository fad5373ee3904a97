"""What a browser tab does for its room: keep the key over a reload, and go where the teacher is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from components.kit.browser import component

_COMPONENT = component("classroom/tab", '<div class="tab"></div>')
LONGEST_KEY = 64


@dataclass(frozen=True)
class Go:
    """Where to go."""

    address: str
    """Path and parameters, on this server."""
    version: str
    """Tells this order from the last one: each is carried out once."""


def tab(
    code: str, *, keep: str = "", ask: bool = False, go: Go | None = None, key: str = "class_tab"
) -> str:
    """Draw nothing, and return the key of this room that the tab has kept; empty without one.

    The key lives in the tab's session storage: it outlives a reload and is in no address, so it is
    never seen on a projector.

    Args:
        code: of the room.
        keep: the key to keep; empty to leave what there is.
        ask: whether the tab is to say what it has kept.
        go: where to go.
        key: of the component.
    """
    result = _COMPONENT(
        key=key, data=payload(code, keep, ask=ask, go=go), on_kept_change=lambda: None
    )
    kept = result.kept
    return kept if isinstance(kept, str) and len(kept) <= LONGEST_KEY else ""


def payload(code: str, keep: str, *, ask: bool, go: Go | None) -> dict[str, Any]:
    """Return what the browser needs."""
    return {
        "slot": f"token-by-token room {code}",
        "keep": keep,
        "ask": ask,
        "address": go.address if go else "",
        "version": go.version if go else "",
    }
