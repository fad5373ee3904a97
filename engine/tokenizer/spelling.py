"""Pieces: the ways in which vocabularies write text, and how a piece becomes bytes again.

Two spellings cover today's decoders. *Byte-level* (GPT-2, Llama 3, Qwen, SmolLM) writes each byte
as one printable character: a space is `Ġ`, `é` is `Ã©`. *Metaspace* (SentencePiece: Llama 2, Gemma,
Mistral, Phi-3) writes characters as they are, a space as `▁`, and bytes that have no piece as
`<0xE2>`. Both are read from the tokenizer's own settings, never from a model's name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tokenizers import AddedToken, Regex, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Backend

from engine.basics.errors import EngineError

# GGUF names of pre-tokenizers that take every digit alone before the GPT-2 pattern (llama.cpp,
# `llm_tokenizer_bpe`), and of the GPT-2 pattern by itself.
_DIGITS_THEN_GPT2 = frozenset(
    {
        "smollm",
        "starcoder",
        "refact",
        "command-r",
        "codeshell",
        "exaone",
        "minerva-7b",
    }
)
_GPT2 = frozenset({"gpt-2", "phi-2", "jina-es", "jina-de", "mpt", "olmo", "jais", "trillion"})

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


def digits_then_bytes() -> Any:
    """Return the pre-tokenizer of SmolLM: every digit alone, then GPT-2's byte-level pattern."""
    digits = pre_tokenizers.Digits(individual_digits=True)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    return pre_tokenizers.Sequence([digits, byte_level])


def repair_pre_tokenizer(backend: Backend, kind: str) -> None:
    r"""Give a tokenizer that was built from a GGUF file the pre-tokenizer that the file names.

    What transformers builds leaves out the split of digits, so `"\n\n1."` is cut differently from
    the training text and the distribution after it is wrong.

    Args:
        backend: The tokenizer, changed in place.
        kind: The file's `tokenizer.ggml.pre`. Kinds that transformers gets right are left alone.
    """
    if kind in _DIGITS_THEN_GPT2:
        backend.pre_tokenizer = digits_then_bytes()
    elif kind in _GPT2:
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def missing_bytes(backend: Backend) -> frozenset[int]:
    """Return the bytes that a byte-level vocabulary has no symbol for."""
    known = backend.token_to_id
    return frozenset(b for b, symbol in enumerate(BYTE_SYMBOLS) if known(symbol) is None)


def reading(
    backend: Backend, *, control_ids: frozenset[int], parse_special: bool, breaker: str = ""
) -> Backend:
    """Return a twin of a tokenizer that reads control-token text one way, and only that way.

    The twin shares the model, so it costs nothing. It adds no tokens of its own (no BOS), neither
    cuts nor pads, and nobody sets a flag on it later, so threads can share it.

    Args:
        backend: The tokenizer. It is not changed.
        control_ids: Added tokens that are plain text when `parse_special` is false.
        parse_special: Whether control-token text becomes control tokens.
        breaker: A character that is taken out after control tokens were looked for, and before
            anything else happens: it keeps the text around it from being read as one.

    Raises:
        EngineError: The added tokens would not keep their ids.
    """
    twin = Backend(backend.model)
    twin.normalizer = backend.normalizer
    twin.pre_tokenizer = backend.pre_tokenizer
    if breaker:
        rest = [backend.normalizer] if backend.normalizer is not None else []
        twin.normalizer = normalizers.Sequence([normalizers.Replace(breaker, ""), *rest])
    added = sorted(backend.get_added_tokens_decoder().items())
    for token_id, token in added:
        # Whether a token is "special" decides here, and only here, how its text is read; a
        # "normalized" one would be looked for after the breaker is gone.
        control = token_id in control_ids
        twin_token = AddedToken(
            token.content,
            single_word=token.single_word,
            lstrip=token.lstrip,
            rstrip=token.rstrip,
            normalized=token.normalized and not (breaker and control),
            special=control,
        )
        twin.add_tokens([twin_token])
    if sorted(twin.get_added_tokens_decoder()) != [token_id for token_id, _ in added]:
        raise EngineError("This tokenizer numbers its added tokens in a way that cannot be kept.")
    twin.encode_special_tokens = not parse_special
    _keep_missing_bytes_apart(twin)
    return twin


def _keep_missing_bytes_apart(backend: Backend) -> None:
    r"""Keep the neighbours of a byte that the vocabulary lacks from merging across the gap.

    The BPE of `tokenizers` drops such a byte first and merges afterwards, so `.\x04.` would become
    the single token `..` with a span that is off by one. llama.cpp keeps the two apart.
    """
    if read_spelling(backend).kind != "byte-level" or backend.pre_tokenizer is None:
        return
    if missing := missing_bytes(backend):
        gaps = "".join(rf"\x{{{ord(BYTE_SYMBOLS[byte]):X}}}" for byte in sorted(missing))
        gap = pre_tokenizers.Split(Regex(f"[{gaps}]"), "isolated")
        backend.pre_tokenizer = pre_tokenizers.Sequence([backend.pre_tokenizer, gap])
