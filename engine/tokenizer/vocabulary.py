"""The vocabulary of a model: what each token id stands for, ids as text, characters without ids."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Self

from tokenizers import Tokenizer as Backend

from engine.basics.errors import EngineError
from engine.tokenizer.backend import encoded, missing_bytes
from engine.tokenizer.detokenizer import IncrementalDecoder
from engine.tokenizer.spelling import Spelling, read_spelling

# Tokens that end a turn or a text, by the names that models give them.
_END_TOKENS = frozenset(
    {
        "<|im_end|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|end_of_text|>",
        "<|end|>",
        "<end_of_turn>",
        "<eos>",
        "</s>",
        "<|return|>",
    }
)


class Vocabulary:
    """The tokens of one model."""

    vocabulary: int
    """V, the number of ids."""
    special_ids: frozenset[int]
    """Ids of control tokens."""
    end_ids: frozenset[int]
    """Ids of control tokens that end a turn or a text."""

    def __init__(self, backend: Backend, *, template_text: str, end_token: str | None) -> None:
        """Read it from a backend, which is shared and never changed.

        Args:
            backend: The tokenizer. Its added tokens say which ids are special.
            template_text: All that the model's chat template can write by itself.
            end_token: The token that the model's files name as the end of a text.
        """
        added = backend.get_added_tokens_decoder()
        self._source = backend
        self._spelling = read_spelling(backend)
        self._added = {token_id: token.content for token_id, token in added.items()}
        # Like transformers, count an added token that the template writes itself as a control
        # token, special or not: Qwen's <tool_call>. Runs of spaces (GPT-NeoX) are text.
        self._tag_ids = frozenset(
            token_id
            for token_id, token in added.items()
            if not token.special and token.content in template_text and token.content.strip()
        )
        self.special_ids = self._tag_ids | {i for i, token in added.items() if token.special}
        ends = _END_TOKENS | {end_token}
        self.end_ids = frozenset(i for i, text in self._added.items() if text in ends)
        size = backend.get_vocab_size(with_added_tokens=True)
        self.vocabulary = max([size, *(token_id + 1 for token_id in added)])

    @property
    def spelling(self) -> str:
        """How its pieces write text: "byte-level", "metaspace" (SentencePiece) or "plain"."""
        return self._spelling.kind

    def sized(self, vocabulary: int) -> Self:
        """Return this vocabulary for a model whose LM head is padded to `vocabulary` rows.

        Ids past the tokenizer's own entries then decode to nothing instead of being refused.
        """
        sized = copy.copy(self)
        sized.vocabulary = max(vocabulary, self.vocabulary)
        return sized

    def is_special(self, token_id: int) -> bool:
        """Say whether an id is a control token's."""
        return token_id in self.special_ids

    def piece_of(self, token_id: int) -> str:
        """Return the raw vocabulary form of an id; empty for a padding row of the LM head.

        Raises:
            EngineError: The id is out of range.
        """
        if not 0 <= token_id < self.vocabulary:
            raise EngineError(
                f"There is no token {token_id}: this vocabulary has the ids 0 to "
                f"{self.vocabulary - 1}."
            )
        return self._source.id_to_token(int(token_id)) or ""

    def bytes_of_piece(self, piece: str) -> bytes:
        """Return the bytes of a raw form such as `Ġthe`, which need not be a token."""
        return self._spelling.to_bytes(piece)

    def id_of_piece(self, piece: str) -> int | None:
        """Return the id of a raw vocabulary form; None where it is no token."""
        found = self._source.token_to_id(piece)
        return None if found is None else int(found)

    def bytes_of(self, token_id: int) -> bytes:
        """Return the bytes that an id stands for; for a control token those of its name.

        Raises:
            EngineError: The id is out of range.
        """
        if (text := self._added.get(token_id)) is not None:
            return text.encode()
        return self._spelling.to_bytes(self.piece_of(token_id))

    def _emit(
        self, token_id: int, lead_expected: bool, *, skip_special: bool = False
    ) -> tuple[bytes, bool]:
        """Return a token's bytes in a text, and whether the tokenizer's own space may come next."""
        data = self.bytes_of(token_id)
        if token_id in self._added:
            skipped = skip_special and token_id in self.special_ids
            lead_next = self._spelling.lead == "always" or (skipped and lead_expected)
            return b"" if skipped else data, lead_next
        return data[1:] if lead_expected and data[:1] == b" " else data, False

    def stream(self, *, skip_special: bool = False, continuing: bool = False) -> IncrementalDecoder:
        """Return a decoder for a sequence that grows: `push(id)` and `flush()` give text.

        Args:
            skip_special: Whether control tokens give no text.
            continuing: Whether the sequence continues an earlier text. Some tokenizers (Llama 2)
                put a space before each text, which decoding takes away only at the text's start.
        """
        lead_expected = not continuing and self._spelling.lead != "never"
        return IncrementalDecoder(
            lambda token_id, lead: self._emit(token_id, lead, skip_special=skip_special),
            lead_expected=lead_expected,
        )

    def decode(
        self, ids: Iterable[int], *, skip_special: bool = False, continuing: bool = False
    ) -> str:
        """Return the text of ids: their bytes joined, with U+FFFD where they are not UTF-8.

        Arguments as for `stream`.

        Raises:
            EngineError: An id is out of range.
        """
        lead = not continuing and self._spelling.lead != "never"
        parts = []
        for token_id in ids:
            data, lead = self._emit(token_id, lead, skip_special=skip_special)
            parts.append(data)
        return b"".join(parts).decode("utf-8", "replace")


class Coverage:
    """Which characters of a text a vocabulary cannot represent."""

    def __init__(self, backend: Backend, spelling: Spelling) -> None:
        """Read it from a backend that takes control-token text as plain text."""
        self._backend = backend
        self._spelling = spelling
        self._missing = missing_bytes(backend)
        self._characters = frozenset(p for p in backend.get_vocab() if len(p) == 1)
        unknown = getattr(backend.model, "unk_token", None)
        self.unknown_id: int | None = backend.token_to_id(unknown) if unknown else None
        """The token that stands for whatever has none."""

    def gaps(self, text: str) -> list[tuple[str, int]]:
        """Return each character that does not survive encoding, with its index in the text."""
        lost = {char for char in set(text) if not self._holds(char)}
        return [(char, i) for i, char in enumerate(text) if char in lost] if lost else []

    def _holds(self, char: str) -> bool:
        """Say whether one character survives encoding."""
        if "\ud800" <= char <= "\udfff":
            return False
        if self._spelling.kind == "byte-level":
            return self._missing.isdisjoint(char.encode())
        if self._spelling.kind == "metaspace" and char in " ▁":
            return char == " "
        if char in self._characters:
            return True
        ids = encoded(self._backend, char).ids
        return bool(ids) and self.unknown_id not in ids
