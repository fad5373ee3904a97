"""Addresses for a class: the link that lets somebody join, and where the teacher's page is."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import quote, urlencode, urlsplit

from components.link import keys
from components.shell.stages import STAGES, stage


def home(url: str) -> str:
    """Return the address of the app's first page, without a slash at its end.

    Args:
        url: where the browser is, on any page of the app.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    before, _, last = path.rpartition("/")
    if last and last in {entry.url for entry in STAGES}:
        path = before
    return f"{parts.scheme}://{parts.netloc}{path}"


def join_link(url: str, code: str) -> str:
    """Return the link that lets somebody join a room."""
    return f"{home(url)}/?{urlencode({keys.ROOM: code})}"


def own_computer_only(url: str) -> bool:
    """Return whether an address leads other computers to themselves and not here."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def page_path(url: str, key: str, link: Iterable[tuple[str, str]]) -> str:
    """Return path and parameters of a stage's page, for the browser's address.

    Args:
        url: where the browser is now.
        key: of the stage.
        link: names and values of the parameters.
    """
    path = urlsplit(home(url)).path
    query = urlencode(list(link), quote_via=quote)
    return f"{path}/{stage(key).url}?{query}"
