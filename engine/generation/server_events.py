"""Server-sent events (SSE): an answer as the stream of events that an HTTP API would send.

The format is the one that most servers of language models speak (OpenAI's): lines `data: {json}`,
each followed by an empty line, and `data: [DONE]` at the end. An event goes out when there is text
to show, not for every token: while a character or a stop string is incomplete there is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.basics.results import Result
from engine.generation.token_step import StopReason, TokenStep

FINISH: Mapping[StopReason, str] = {
    "end token": "stop",
    "stop string": "stop",
    "token budget": "length",
    "context limit": "length",
}
"""What such an API calls each stop reason. A cancelled run has none: its client is gone."""


@dataclass(frozen=True)
class ServerEvent(Result):
    """One event on the wire."""

    milliseconds: float
    """When it was sent, from the moment the request came in."""
    tokens: int
    """How many tokens had been made by then."""
    wire: str
    """The bytes that are sent, as text: `data: …` and an empty line."""


def server_events(
    steps: Sequence[TokenStep], *, model: str, chat: bool, request: str = "request-1"
) -> tuple[ServerEvent, ...]:
    """Return the events of one answer.

    Args:
        steps: The tokens of the answer, in order; if the last has no stop reason, it was cut off.
            Where a run ended and another went on, the stream goes on too.
        model: The model's name.
        chat: Whether the prompt was a chat turn, which has a format of its own.
        request: The id that all events of the run carry.
    """
    wire = _Wire(model, chat, request)
    events: list[ServerEvent] = []
    clock = 0.0
    for count, step in enumerate(steps, start=1):
        last = count == len(steps)
        clock += step.milliseconds
        if chat and count == 1:
            events.append(ServerEvent(clock, count, wire.chunk({"role": "assistant"}, None)))
        if step.text:
            events.append(ServerEvent(clock, count, wire.text(step.text)))
        finish = FINISH.get(step.stop_reason) if step.stop_reason else None
        if last and finish is not None:
            events.append(ServerEvent(clock, count, wire.end(finish)))
            events.append(ServerEvent(clock, count, "data: [DONE]\n\n"))
    return tuple(events)


@dataclass(frozen=True)
class _Wire:
    model: str
    chat: bool
    request: str

    def text(self, text: str) -> str:
        """Return the event that carries text."""
        return self.chunk({"content": text}, None) if self.chat else self._completion(text, None)

    def end(self, finish: str) -> str:
        """Return the event that says why there is no more."""
        return self.chunk({}, finish) if self.chat else self._completion("", finish)

    def chunk(self, delta: dict[str, str], finish: str | None) -> str:
        """Return an event of a chat answer: what is new in the assistant's message."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return self._data("chat.completion.chunk", choice)

    def _completion(self, text: str, finish: str | None) -> str:
        choice = {"index": 0, "text": text, "finish_reason": finish}
        return self._data("text_completion", choice)

    def _data(self, kind: str, choice: dict[str, Any]) -> str:
        body = {"id": self.request, "object": kind, "model": self.model, "choices": [choice]}
        # JSON escapes line breaks, so an event is always one line, whatever the text holds.
        return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"
