"""The card on the projector that lets a class join: QR code, code, link and how many are there."""

from __future__ import annotations

from typing import Any

from components.classroom.qr import qr
from components.kit.browser import component

_COMPONENT = component("classroom/join_card", '<section class="card"></section>')


def join_card(link: str, code: str, here: int, *, key: str = "join_card") -> None:
    """Draw the card.

    Args:
        link: what the QR code leads to.
        code: of the room, for whoever types it.
        here: how many students are there.
        key: of the component.
    """
    _COMPONENT(key=key, data=payload(link, code, here))


def payload(link: str, code: str, here: int) -> dict[str, Any]:
    """Return what the browser needs."""
    picture = qr(link)
    return {
        "link": link.removeprefix("http://"),
        "code": code,
        "here": "1 is here" if here == 1 else f"{here} are here",
        "size": picture.size,
        "path": picture.path,
        "label": f"QR code of {link}",
    }
