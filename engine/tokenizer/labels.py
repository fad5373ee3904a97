"""Tokens as the labels of rows and columns: each token's text, whatever it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from engine.basics.arrays import Ids, frozen_ids
from engine.basics.results import Table

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Tokenizer

SHOWN = 12
"""Labels of which the repr shows the texts; of more it says how many there are."""


@dataclass(frozen=True, eq=False)
class Labels(Table, Sequence[str]):
    """Tokens as text, to be used wherever a list of labels is wanted."""

    columns = ("ids", "texts")
    axes = ("position",)

    ids: Ids
    """`[T]`."""
    texts: tuple[str, ...]
    """Each token's text; a part of a character as its bytes (`<E2 80>`)."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, ids: Iterable[int]) -> Labels:
        """Return the labels of ids."""
        known = frozen_ids(list(ids))
        return cls(known, tuple(label_of(tokenizer, int(token_id)) for token_id in known))

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        """Return one label, or some."""
        return self.texts[at]

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Labels({len(self)} tokens)" if len(self) > SHOWN else f"Labels{self.texts}"


def label_of(tokenizer: Tokenizer, token_id: int) -> str:
    """Return a token's text; a part of a character, which is no text, as its bytes."""
    data = tokenizer.bytes_of(token_id)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"<{data.hex(' ').upper()}>"
