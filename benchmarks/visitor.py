"""A visitor of the app without a browser: it speaks Streamlit's own messages over its WebSocket.

A visitor opens pages by link, sets widgets by their key or label, presses buttons, and waits until
the script has finished or goes on without waiting. What a script drew is known by widget.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PATIENCE = 120.0
"""Seconds after which a script that does not finish counts as hanging."""

KINDS = ("button", "slider", "checkbox", "text_area", "text_input", "button_group")
"""The widgets that a visitor knows."""

ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


@dataclass
class Widget:
    """One widget as the script drew it last."""

    kind: str
    id: str
    label: str
    fragment: str
    drawn: Any = field(repr=False)


class Visitor:
    """One session. Use it as an async context manager."""

    def __init__(self, port: int, **link: str) -> None:
        """Describe a visitor; `link` are the parameters of the address."""
        self.ask(**link)
        self.widgets: dict[str, Widget] = {}
        self.exceptions: list[str] = []
        self.first_change: float | None = None
        """Seconds until a text that the last run had drawn changed: the first token of an answer.
        None if none did."""
        self._texts: dict[tuple[int, ...], str] = {}
        self._start = 0.0
        self._port = port
        self._page_hash = ""
        self._values: dict[str, Any] = {}
        self._socket: Any = None

    async def __aenter__(self) -> Visitor:
        address = f"127.0.0.1:{self._port}"
        self._socket = await websockets.connect(
            f"ws://{address}/_stcore/stream",
            subprotocols=[websockets.Subprotocol(name) for name in ("streamlit", "unset")],
            origin=websockets.Origin(f"http://{address}"),
            max_size=None,
            open_timeout=PATIENCE,
            ping_interval=None,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    def ask(self, **link: str) -> None:
        """Take other parameters of the address; the next page is opened with them."""
        self.query = urlencode(link)

    async def open(self, page: str, *, wait: bool = True) -> float:
        """Go to a page by the end of its address; return the seconds until it was drawn."""
        self.widgets.clear()
        self._values.clear()
        return await self._run(page=page, wait=wait)

    async def set(self, widget: Widget, value: Any) -> float:
        """Set a widget; return the seconds until the script has finished."""
        self._values[widget.id] = (widget.kind, value)
        return await self._run(fragment=widget.fragment)

    async def press(self, button: Widget, *, wait: bool = True) -> float:
        """Press a button; without waiting, the script is left running."""
        return await self._run(fragment=button.fragment, trigger=button.id, wait=wait)

    async def finish(self) -> None:
        """Read what the server sends until the script that runs has finished."""
        while not self._read(await asyncio.wait_for(self._socket.recv(), PATIENCE)):
            pass

    def buttons(self, *words: str) -> list[Widget]:
        """Return the buttons whose label holds one of the words; all without words."""
        found = [one for one in self.widgets.values() if one.kind == "button"]
        return [one for one in found if not words or any(word in one.label for word in words)]

    def of_kind(self, kind: str) -> list[Widget]:
        """Return the widgets of a kind that can be used."""
        return [one for one in self.widgets.values() if one.kind == kind and not one.drawn.disabled]

    async def _run(
        self,
        *,
        page: str | None = None,
        fragment: str = "",
        trigger: str | None = None,
        wait: bool = True,
    ) -> float:
        """Ask for a run of the script; return the seconds that it took, 0 without waiting."""
        await self._catch_up()
        self._start = time.perf_counter()
        self.first_change = None
        self._texts.clear()
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string = self.query
        asked.page_name = page or ""
        asked.page_script_hash = self._page_hash if page is None else ""
        asked.fragment_id = fragment
        for widget_id, (kind, value) in self._values.items():
            state = asked.widget_states.widgets.add()
            state.id = widget_id
            if kind == "slider":
                state.double_array_value.data[:] = [float(value)]
            elif kind == "checkbox":
                state.bool_value = bool(value)
            elif kind == "button_group":
                state.string_array_value.data[:] = [str(value)]
            else:
                state.string_value = str(value)
        if trigger is not None:
            state = asked.widget_states.widgets.add()
            state.id, state.trigger_value = trigger, True
        await self._socket.send(message.SerializeToString())
        if not wait:
            return 0.0
        await self.finish()
        return time.perf_counter() - self._start

    async def _catch_up(self) -> None:
        """Take in what has come meanwhile, so that no end of an earlier run is taken for this."""
        with contextlib.suppress(TimeoutError):
            while True:
                self._read(await asyncio.wait_for(self._socket.recv(), 0.01))

    def _read(self, raw: bytes) -> bool:
        """Take in one message; say whether the script has finished."""
        message = ForwardMsg()
        message.ParseFromString(raw)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._page_hash = message.new_session.page_script_hash
            if not message.metadata.run.fragment_ids:
                self.widgets.clear()  # a run of the whole page draws all of them anew
        elif kind == "navigation":  # the page that it is; before, a first run names the first page
            self._page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "script_finished":
            return message.script_finished in ENDS
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            name = element.WhichOneof("type")
            if name == "html":
                self._note_text(tuple(message.metadata.delta_path), element.html.body)
            if name == "exception":
                self.exceptions.append(f"{element.exception.type}: {element.exception.message}")
            elif name in KINDS:
                drawn = getattr(element, name)
                label = getattr(drawn, "label", "")
                self.widgets[drawn.id] = Widget(
                    name, drawn.id, label, message.delta.fragment_id, drawn
                )
        return False

    def _note_text(self, place: tuple[int, ...], text: str) -> None:
        """Note a piece of the page's text, and when the first of them changed within this run."""
        if self._texts.setdefault(place, text) != text and self.first_change is None:
            self.first_change = time.perf_counter() - self._start
