"""Coverage: which characters of a text a vocabulary cannot represent."""

from __future__ import annotations

from tokenizers import Tokenizer as Backend

from engine.tokenizer.spelling import Spelling, missing_bytes


class Coverage:
    """What one vocabulary can hold."""

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
        if "\ud800" <= char <= "\udfff":
            return False
        if self._spelling.kind == "byte-level":
            return self._missing.isdisjoint(char.encode())
        if self._spelling.kind == "metaspace" and char in " ▁":
            return char == " "
        if char in self._characters:
            return True
        ids = self._backend.encode(char, add_special_tokens=False).ids
        return bool(ids) and self.unknown_id not in ids
