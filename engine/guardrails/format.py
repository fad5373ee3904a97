"""The format constraint (structured output): only tokens that keep the text inside a grammar.

A grammar is compiled once into an automaton over bytes by llguidance, the library behind several
servers' structured output. For every text written so far it gives a mask over the vocabulary: the
tokens after which the text can still become complete and valid. So every finished result parses; it
need not be true, and one that the token budget cut is not finished.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import llguidance.numpy
import numpy as np
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from engine.basics.arrays import Flags
from engine.basics.errors import EngineError
from engine.basics.results import Result

if TYPE_CHECKING:
    from engine.model.model import LanguageModel
    from engine.tokenizer.tokenizer import Tokenizer

MOST_KEYS = 6
TEXT_LENGTH = 24
"""Most characters of a text in the JSON object, so that it ends within a short answer."""

_TEXT = '"…"'
"""What stands for a text in the rule of a JSON object."""

_LONG = "(01|03|05|07|08|10|12)-(0[1-9]|[12][0-9]|3[01])"
_SHORT = "(04|06|09|11)-(0[1-9]|[12][0-9]|30)"
_DATE = f"(19|20)[0-9][0-9]-({_LONG}|{_SHORT}|02-(0[1-9]|1[0-9]|2[0-8]))"


@dataclass(frozen=True)
class Format(Result):
    """A format that an answer must have."""

    name: str
    rule: str
    """The grammar as shown to the reader: a regular expression, or the object without its texts."""
    grammar: str
    """The grammar in llguidance's language."""
    parses: Callable[[str], bool]
    """Whether a complete text has this format, by an ordinary parser."""
    note: str = ""
    """What the rule leaves to say in words."""


def yes_or_no() -> Format:
    """Return the format of one word: Yes or No, with or without a space in front.

    After "Answer:" a word comes with its space, and in most vocabularies that is one token; a
    format without the space would force the model into pieces that it seldom writes there.
    """
    rule = " ?(Yes|No)"
    words = {lead + word for lead in ("", " ") for word in ("Yes", "No")}
    return Format("Yes or no", rule, _lark(f"/{rule}/"), words.__contains__)


def date() -> Format:
    """Return the format of an ISO date from 1900 to 2099 (without 29 February)."""
    return Format("A date", _DATE, _lark(f"/{_DATE}/"), _is_date)


def json_object(keys: Sequence[str], longest: int = TEXT_LENGTH) -> Format:
    """Return the format of a JSON object with exactly these keys, in order, each a short text.

    Args:
        keys: The names.
        longest: Most characters of a text.

    Raises:
        EngineError: No key, too many, or one of them twice.
    """
    names = [key.strip() for key in keys if key.strip()]
    if not 1 <= len(names) <= MOST_KEYS or len(set(names)) < len(names):
        raise EngineError(
            f"A JSON object needs 1 to {MOST_KEYS} different keys, but got: "
            f"{', '.join(names) or 'none'}. Separate the keys with commas."
        )
    schema = {
        "type": "object",
        "properties": {
            name: {"type": "string", "minLength": 1, "maxLength": longest} for name in names
        },
        "required": names,
        "additionalProperties": False,
        "x-guidance": {"whitespace_flexible": False},
    }
    # As `whitespace_flexible` makes it: no blank outside of the texts.
    parts = (f"{json.dumps(name, ensure_ascii=False)}:{_TEXT}" for name in names)
    return Format(
        "A JSON object",
        "{" + ",".join(parts) + "}",
        _lark(f"%json {json.dumps(schema)}"),
        lambda text: _has_keys(text, names, longest),
        f"{_TEXT} is a text of 1 to {longest} characters; no blanks outside of the texts",
    )


class Constraint:
    """A format for one vocabulary. A guard for `batch.write_rows`."""

    def __init__(self, model: LanguageModel, wanted: Format) -> None:
        """Compile the grammar.

        Raises:
            EngineError: The library refuses the grammar, or the model has no end token.
        """
        if not model.stop_ids:
            raise EngineError("This model names no end token, so a format can't end its answer.")
        self._vocabulary = model.architecture.vocabulary
        self._ends = sorted(model.stop_ids)
        self._start = LLMatcher(_library_tokenizer(model), wanted.grammar)
        if self._start.is_error():
            raise EngineError(f"This format can't be used: {self._start.get_error()}")

    def __call__(self, written: Sequence[int]) -> Flags:
        """Return `[V]`, True for the tokens that keep the text inside the grammar.

        Raises:
            EngineError: What was written is not inside it.
        """
        matcher = self._start.deep_copy()
        if written and not matcher.consume_tokens(list(written)):
            raise EngineError("This text has left the format already.")
        words = llguidance.numpy.allocate_token_bitmask(1, self._vocabulary)
        llguidance.numpy.fill_next_token_bitmask(matcher, words)
        bits = np.unpackbits(words[0].view(np.uint8), bitorder="little")[: self._vocabulary]
        return bits.astype(np.bool_)

    def complete(self, written: Sequence[int]) -> bool:
        """Say whether the text may end here."""
        matcher = self._start.deep_copy()
        inside = not written or matcher.consume_tokens(list(written))
        return bool(inside and matcher.is_accepting())


class _Bytes:
    """The vocabulary in the form that llguidance needs."""

    def __init__(self, tokenizer: Tokenizer, end_id: int) -> None:
        self.eos_token_id = end_id
        self.bos_token_id = None
        self.tokens = [tokenizer.bytes_of(i) for i in range(tokenizer.vocabulary)]
        self.special_token_ids = sorted(tokenizer.special_ids)
        self._tokenizer = tokenizer

    def __call__(self, text: str | bytes) -> list[int]:
        plain = text.decode(errors="replace") if isinstance(text, bytes) else text
        return self._tokenizer.ids(plain)


def _library_tokenizer(model: LanguageModel) -> LLTokenizer:
    ends = sorted(model.stop_ids)
    return LLTokenizer(
        TokenizerWrapper(_Bytes(model.tokenizer, ends[0])),
        n_vocab=model.architecture.vocabulary,
        eos_token=ends,
    )


def _lark(start: str) -> str:
    """Return a grammar in llguidance's language.

    Where only one continuation is possible, llguidance would allow only its usual tokens. With
    `no_forcing` the mask has every token that stays inside the grammar.
    """
    return f'%llguidance {{"no_forcing": true}}\nstart: {start}'


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and datetime.date.fromisoformat(text) is not None
    except ValueError:
        return False


def _has_keys(text: str, names: Sequence[str], longest: int) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return (
        isinstance(value, dict)
        and list(value) == list(names)
        and all(isinstance(part, str) and 1 <= len(part) <= longest for part in value.values())
    )
