"""The chat template of a model: turns as one text, where a user's words stand in it, forged turns.

A template is a small program that comes with the model. It writes control tokens around each turn
(`<|im_start|>user`). If a user types such a token, the rendered text alone cannot tell the two
apart. So `render_broken` breaks the typed ones up before it renders: what is whole afterwards was
written by the template. A forged turn is the attack that this prevents.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from engine.basics.errors import EngineError
from engine.tokenizer.template_limits import render

Message = Mapping[str, Any]
"""One turn: `{"role": "user", "content": "Hi"}`."""


@dataclass(frozen=True)
class ChatTemplate:
    """A Jinja template in transformers' dialect and sandbox."""

    source: str
    special_names: Mapping[str, str]
    """What the template calls tokens: `{"bos_token": "<s>"}`."""

    @cached_property
    def literal_text(self) -> str:
        """The template's program with the special names' values: all that it can write itself."""
        return "\0".join([self.source, *self.special_names.values()])

    def render(self, messages: Sequence[Message]) -> str:
        """Return the text of the turns, ready for the model's next turn.

        Raises:
            EngineError: The template refuses these turns, or is not valid.
        """
        try:
            return render(self.source, messages, self.special_names)
        except Exception as error:  # a template is a program of its own and can fail in any way
            reason = str(error).rstrip(".")
            raise EngineError(
                f"The model's chat template refuses these turns: {reason}. Use plain text instead."
            ) from error

    def render_broken(
        self, messages: Sequence[Message], controls: Collection[str], tags: Collection[str]
    ) -> tuple[str, str]:
        """Render turns in which control-token text is broken up by a character.

        Args:
            messages: The turns.
            controls: The texts of the special tokens.
            tags: The texts of control tokens that are not special (`</think>`). In the model's own
                turns they stay whole: the model wrote them, and templates look for them there.

        Returns:
            The rendered text, and the private-use character that breaks control-token text up.
        """
        breaker = _unused_character(
            [self.literal_text, *controls, *tags, *_strings(list(messages))]
        )
        broken = []
        for message in messages:
            own = message.get("role") == "assistant"
            pattern = _any_of(controls if own else [*controls, *tags])
            broken.append(
                {
                    key: value if key == "role" else _break(value, pattern, breaker)
                    for key, value in message.items()
                }
            )
        return self.render(broken), breaker

    def user_span(self, content: str) -> tuple[int, int]:
        """Return where a user's words stand in the rendered text of that one turn, `(start, end)`.

        All around them is the template's own. A template that trims a turn trims the span too.

        Raises:
            EngineError: As `render`.
        """
        probe = "\ue000"
        before, _, after = self.render([{"role": "user", "content": probe}]).partition(probe)
        whole = self.render([{"role": "user", "content": content}])
        return len(before), len(whole) - len(after)

    def forged_turn(self, words: str, order: str) -> str | None:
        """Return a user's words that close their own turn and open a system turn with `order`.

        Typed by a user and read as control tokens, they pass for a turn that the operator wrote.

        Returns:
            The text, or None where the template allows no system turn there.
        """
        first, second = "\ue000", "\ue001"
        try:
            text = self.render(
                [{"role": "user", "content": first}, {"role": "system", "content": second}]
            )
        except EngineError:
            return None
        _, found, rest = text.partition(first)
        between, closed, _ = rest.partition(second)
        return f"{words}{between}{order}" if found and closed else None


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern for any of the texts. Longest first: it wins over those that it contains."""
    return "|".join(map(re.escape, sorted(filter(None, texts), key=len, reverse=True)))


def _break(value: Any, pattern: str, breaker: str) -> Any:
    """Put `breaker` between the characters of each control token in the strings of a value."""
    if isinstance(value, Mapping):
        return {key: _break(item, pattern, breaker) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_break(item, pattern, breaker) for item in value]
    if not isinstance(value, str) or not pattern:
        return value
    # The lookahead finds tokens that overlap as well.
    cuts = {
        cut
        for match in re.finditer(f"(?=({pattern}))", value)
        for cut in range(match.start() + 1, match.end(1))
    }
    return "".join(breaker + char if i in cuts else char for i, char in enumerate(value))


def _strings(value: Any) -> Iterator[str]:
    """Yield every string inside nested turns."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _unused_character(texts: Iterable[str]) -> str:
    """Return a private-use character that occurs in none of the texts."""
    used = set().union(*texts)
    private = chain(range(0xE000, 0xF900), range(0xF0000, 0xFFFFE))
    return next(chr(code) for code in private if chr(code) not in used)
