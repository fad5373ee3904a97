"""Limits around a chat template: how long it may run, and how much text it may make.

A template is a program that comes with a model. transformers' sandbox keeps it away from files and
from Python, but lets it loop for ever and build texts of gigabytes. Here it is watched line by
line: Jinja compiles a template to Python, and Python tells a trace function of each line.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from types import FrameType
from typing import Any

from engine.basics.errors import EngineError

SECONDS = 2.0
"""Templates of real models take some milliseconds."""
CHARACTERS = 1_000_000
"""The longest text that a template may make, at the end or on the way."""


_PADDING = frozenset(["center", "ljust", "rjust", "zfill", "expandtabs", "indent"])
"""Methods and filters that make a text as wide as a number says, some of them line by line."""
_WIDE = re.compile(r"%[^a-zA-Z%]*[\d*]|\{[^{}]*:[^{}]*[\d{]")
"""A width in a text to be formatted: `%9d`, `%*d`, `{:9}`, `{:{}}`."""


class TemplateLimitError(EngineError):
    """A template ran too long, or made too much text."""


def render(source: str, messages: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> str:
    """Return what a template makes of turns, ready for the model's next turn.

    Args:
        source: The template, in transformers' dialect.
        messages: The turns.
        names: What the template calls tokens.

    Raises:
        TemplateLimitError: It takes longer than `SECONDS`, or makes more than `CHARACTERS`.
        Exception: Whatever the template raises.
    """
    template = _compiled(source)
    parts: list[str] = []
    made = 0
    with _watched(template.filename or "<template>"):
        for part in template.generate(messages=messages, add_generation_prompt=True, **names):
            made += len(part)
            if made > CHARACTERS:
                raise _too_much()
            parts.append(part)
    return "".join(parts)


@cache
def _compiled(source: str) -> Any:
    """Compile a template in transformers' environment, with what can fill the memory checked."""
    # transformers takes a second to import and is needed only here.
    from transformers.utils.chat_template_utils import _compile_jinja_template

    environment = _compile_jinja_template("").environment.overlay()
    environment.intercepted_binops = frozenset(["+", "*", "**", "%"])
    environment.call_binop = _checked_operation
    plain = environment.call

    def call(context: Any, function: Any, *args: Any, **named: Any) -> Any:
        method = getattr(function, "__wrapped__", function)  # the sandbox wraps `format`
        text = getattr(method, "__self__", None)
        if isinstance(text, str):
            _check_text(method.__name__, (text, *args, *named.values()))
        return plain(context, function, *args, **named)

    environment.call = call
    environment.filters = {name: _checked(name, one) for name, one in environment.filters.items()}
    return environment.from_string(source)


def _checked_operation(context: Any, operator: str, left: Any, right: Any) -> Any:
    """Compute `+`, `*`, `**` or `%`, of which one step can fill the memory."""
    if operator == "+":
        if isinstance(left, str | list) and len(left) + len(right) > CHARACTERS:
            raise _too_much()
        return left + right
    if operator == "*":
        texts = [value for value in (left, right) if isinstance(value, str | list | tuple)]
        counts = [value for value in (left, right) if isinstance(value, int)]
        if texts and counts and len(texts[0]) * counts[0] > CHARACTERS:
            raise _too_much()
        return left * right
    if operator == "**":
        if abs(right) > 64:
            raise _too_much()
        return left**right
    if isinstance(left, str):  # "%999999999d" % 1
        raise TemplateLimitError("The model's chat template formats text in a way that is refused.")
    return left % right


def _checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that refuses to make too much text."""

    @wraps(function)  # with the mark by which Jinja knows what to pass first
    def checked(*args: Any, **named: Any) -> Any:
        passed = args[1:] if hasattr(function, "jinja_pass_arg") else args
        _check_text(name, (*passed, *named.values()))
        return function(*args, **named)

    return checked


def _check_text(name: str, args: Sequence[Any]) -> None:
    """Refuse a method or filter of this name if it would make too much text of its arguments."""
    texts = [value for value in args if isinstance(value, str)]
    widths = [value for value in args if isinstance(value, int)]
    lines = 1 + sum(text.count("\n") + text.count("\t") for text in texts[:1])
    if widths and lines * max(widths) > CHARACTERS and name in _PADDING:
        raise _too_much()
    if name == "replace" and len(texts) == 3:
        text, old, new = texts
        if text.count(old) * len(new) > CHARACTERS:
            raise _too_much()
    if name == "join":
        parts = [part for value in args if isinstance(value, list | tuple) for part in value]
        longest = max(map(len, texts), default=0)
        made = sum(len(part) for part in parts if isinstance(part, str))
        if made + longest * len(parts) > CHARACTERS:
            raise _too_much()
    if name in {"format", "format_map"} and texts and _WIDE.search(texts[0]):
        raise TemplateLimitError("The model's chat template formats text in a way that is refused.")


@contextmanager
def _watched(filename: str) -> Iterator[None]:
    """Look at the clock, and at the template's variables, at each of its lines."""
    end = time.monotonic() + SECONDS

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != filename:
            return None
        if time.monotonic() > end:
            raise TemplateLimitError(
                f"The model's chat template has not ended after {SECONDS:g} seconds."
            )
        if event == "line" and any(map(_is_large, frame.f_locals.values())):
            raise _too_much()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def _is_large(value: Any) -> bool:
    """Tell whether a variable holds too much text; a namespace holds variables of its own."""
    if type(value).__name__ == "Namespace":
        inner = getattr(value, "_Namespace__attrs", {})
        return any(isinstance(v, str | list) and len(v) > CHARACTERS for v in inner.values())
    return isinstance(value, str | list) and len(value) > CHARACTERS


def _too_much() -> TemplateLimitError:
    return TemplateLimitError(
        f"The model's chat template makes more than {CHARACTERS:,} characters."
    )
