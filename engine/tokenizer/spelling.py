"""How a vocabulary writes text in its pieces, and how a piece becomes bytes again.

Two spellings cover today's decoders. *Byte-level* (GPT-2, Llama 3, Qwen, SmolLM) writes each byte
as one printable character: a space is `Ġ`, `é` is `Ã©`. *Metaspace* (SentencePiece: Llama 2, Gemma,
Mistral, Phi-3) writes characters as they are, a space as `▁`, and bytes that have no piece as
`<0xE2>`. Which one it is, is read from the tokenizer's own settings, never from a model's name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tokenizers import Tokenizer as Backend

_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_METASPACE = "▁"


def _byte_symbols() -> tuple[str, ...]:
    """Return the 256 printable characters that stand for bytes (GPT-2's `bytes_to_unicode`)."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    # Bytes that cannot be printed borrow characters from U+0100 upwards, in order.
    borrowed = iter(range(256, 512))
    return tuple(chr(byte if byte in printable else next(borrowed)) for byte in range(256))


BYTE_SYMBOLS = _byte_symbols()
_BYTE_OF_SYMBOL: Mapping[str, int] = {symbol: byte for byte, symbol in enumerate(BYTE_SYMBOLS)}


@dataclass(frozen=True)
class Spelling:
    """How one vocabulary writes text."""

    kind: Literal["byte-level", "metaspace", "plain"]
    lead: Literal["never", "first", "always"]
    """Where the tokenizer puts a space of its own: nowhere, before the text, or also after every
    added token."""
    lead_unless_space: bool
    """Whether that space is left out where the text has one already (so both read the same)."""

    def to_bytes(self, piece: str) -> bytes:
        """Return the bytes that a piece of the vocabulary stands for."""
        if self.kind == "byte-level":
            return _from_byte_symbols(piece)
        if self.kind == "metaspace":
            if byte := _BYTE_PIECE.fullmatch(piece):
                return bytes([int(byte[1], 16)])
            return piece.replace(_METASPACE, " ").encode("utf-8", "replace")
        return piece.encode("utf-8", "replace")

    def is_atom(self, piece: str) -> bool:
        """Say whether a piece is one symbol however it is written: `<0xE2>`."""
        return self.kind == "metaspace" and _BYTE_PIECE.fullmatch(piece) is not None

    def adds_lead(self, rest: bytes) -> bool:
        """Say whether the tokenizer put its own space before `rest`, where it can put one."""
        own = (b" ", _METASPACE.encode()) if self.kind == "metaspace" else b" "
        return bool(rest) and not (self.lead_unless_space and rest.startswith(own))


def _from_byte_symbols(piece: str) -> bytes:
    """Return the bytes that a piece of a byte-level vocabulary spells."""
    try:
        return bytes(map(_BYTE_OF_SYMBOL.__getitem__, piece))
    except KeyError:  # a piece that was never written in byte symbols
        return piece.encode("utf-8", "replace")


def read_spelling(backend: Backend) -> Spelling:
    """Read from a tokenizer's parts how its vocabulary writes text."""
    normalizer, pre_tokenizer, decoder = (
        _parts(part) for part in (backend.normalizer, backend.pre_tokenizer, backend.decoder)
    )
    every = normalizer + pre_tokenizer + decoder
    kinds = {part.get("type") for part in every}
    marks = [part.get("content") for part in every if part.get("type") == "Replace"]
    lead, unless_space = _read_lead(normalizer, pre_tokenizer)
    if "ByteLevel" in kinds:
        return Spelling("byte-level", lead, unless_space)
    if kinds & {"Metaspace", "ByteFallback"} or _METASPACE in marks:
        return Spelling("metaspace", lead, unless_space)
    return Spelling("plain", "never", False)


def _read_lead(
    normalizer: list[dict[str, Any]], pre_tokenizer: list[dict[str, Any]]
) -> tuple[Literal["never", "first", "always"], bool]:
    """Return where the tokenizer puts its own space, and whether one in the text stands for it."""
    if any(part.get("type") == "Prepend" for part in normalizer):
        return "always", False
    for part in pre_tokenizer:
        scheme = part.get("prepend_scheme", "never")
        if part.get("type") == "Metaspace" and scheme in ("first", "always"):
            return scheme, True
        if part.get("type") == "ByteLevel" and part.get("add_prefix_space"):
            return "always", True
    return "never", False


def _parts(component: Any) -> list[dict[str, Any]]:
    """Return the settings of a tokenizer's component, with sequences laid out flat."""
    if component is None:
        return []
    waiting, parts = [json.loads(component.__getstate__())], []
    while waiting:
        part = waiting.pop(0)
        inner = next(
            (part[key] for key in ("pretokenizers", "normalizers", "decoders") if key in part), None
        )
        if inner is None:
            parts.append(part)
        else:
            waiting = [*inner, *waiting]
    return parts
