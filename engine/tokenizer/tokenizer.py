"""The tokenizer of a model: text to tokens, chat turns to tokens, the steps of byte-pair encoding.

Each token says which bytes it carries and which characters of the text it comes from. Control-token
text that a user types stays text unless asked otherwise. What the vocabulary cannot represent is
reported instead of vanishing. Decoding, in the base class `Vocabulary`, gives back the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from tokenizers import Tokenizer as Backend

from engine.basics.errors import EngineError
from engine.tokenizer.backend import encoded, reading
from engine.tokenizer.bpe import BpeTable, MergeSteps, merge_steps, read_table
from engine.tokenizer.chat import ChatTemplate, Message
from engine.tokenizer.spans import Token, moved, spans_of, without_holes, without_surrogates
from engine.tokenizer.vocabulary import Coverage, Vocabulary

__all__ = ["Token", "Tokenizer"]


class Tokenizer(Vocabulary):
    """A `tokenizers` backend read two ways, with its chat template.

    Safe to use from several threads.
    """

    def __init__(
        self,
        backend: Backend,
        chat_template: str | None = None,
        *,
        special_names: Mapping[str, str] | None = None,
    ) -> None:
        """Build on a backend, which is shared and never changed.

        Args:
            backend: The tokenizer. Its added tokens say which ids are special.
            chat_template: Jinja text, or None for a model that knows no turns.
            special_names: What templates call tokens, as in transformers' `special_tokens_map`:
                `{"bos_token": "<s>", "eos_token": "</s>"}`.
        """
        names = dict(special_names or {})
        self._chat = ChatTemplate(chat_template, names) if chat_template else None
        super().__init__(
            backend,
            template_text=self._chat.literal_text if self._chat else "",
            end_token=names.get("eos_token"),
        )
        self._plain = reading(backend, control_ids=self.special_ids, parse_special=False)
        self._control = reading(backend, control_ids=self.special_ids, parse_special=True)

    @classmethod
    def from_transformers(cls, tokenizer: Any) -> Tokenizer:
        """Build on a fast tokenizer of transformers, with its template and special names.

        Raises:
            EngineError: It has no `tokenizers` backend.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if not isinstance(backend, Backend):
            raise EngineError(
                f"The tokenizer {type(tokenizer).__name__} has no tokenizer.json form, which this "
                "app needs. Choose a model that comes with a tokenizer.json."
            )
        template = getattr(tokenizer, "chat_template", None)
        if isinstance(template, dict):
            template = template.get("default")
        return cls(backend, template, special_names=tokenizer.special_tokens_map)

    # Text to tokens

    def encode(
        self, text: str, *, parse_special: bool = False, add_bos: bool = False
    ) -> list[Token]:
        """Cut a text into tokens.

        Args:
            text: Any string. Lone surrogates are dropped, and so is what `unrepresentable` lists.
            parse_special: Whether control-token text becomes control tokens. If not, it is text.
            add_bos: Whether to begin with the tokens that the model expects before a text
                (Llama's and Gemma's BOS; nothing for the default model). They carry no bytes.
        """
        tokens, _ = self._encode(self._control if parse_special else self._plain, text)
        if add_bos:
            bos = [Token(i, self.piece_of(i), b"", 0, 0, self.is_special(i)) for i in self.bos_ids]
            tokens = bos + tokens
        return tokens

    def ids(self, text: str, *, parse_special: bool = False, add_bos: bool = False) -> list[int]:
        """Return the ids of `encode`."""
        tokens = self.encode(text, parse_special=parse_special, add_bos=add_bos)
        return [token.id for token in tokens]

    def after(self, before: str, text: str) -> list[Token]:
        """Cut a text into tokens as it is cut where it continues another.

        Alone, the text can get a space that the tokenizer puts in front of it, in Llama 2's kind
        even as a token `▁` of its own. So the tokens are cut out of those of both texts joined.
        Where one token lies across the seam, the text is cut after a letter or a line break.

        Args:
            before: The text that is continued; it counts only for how the other one begins.
            text: What continues it; control-token text in it is text.

        Returns:
            Tokens with spans in `text`.
        """
        neutral = ("a", "\n") if text[:1].isspace() else ("\n", "a")
        for start in (before, *neutral):
            size = len(start)
            tokens = self.encode(start + text)
            own = [token for token in tokens if token.start >= size and token.data]
            if start and all(token.end <= size for token in tokens[: len(tokens) - len(own)]):
                return [
                    replace(token, start=token.start - size, end=token.end - size) for token in own
                ]
        return self.encode(text)

    def _encode(
        self, backend: Backend, text: str, breaker: str = ""
    ) -> tuple[list[Token], list[int | None]]:
        """Return the tokens of a text, and for each the number of its pre-token."""
        fed, _ = without_surrogates(text)
        clean, origin = without_surrogates(text.replace(breaker, "") if breaker else text)
        encoding = encoded(backend, fed)
        data = self._data_of(encoding.ids, clean.encode())
        spans = spans_of(clean, data)
        if spans is None:
            before = [0, *accumulate(char == breaker for char in fed)]
            spans = [(start - before[start], end - before[end]) for start, end in encoding.offsets]
            spans = without_holes(spans, dropped={i for _, i in self.unrepresentable(clean)})
        tokens = [
            Token(i, self._added.get(i, piece), part, start, end, i in self.special_ids)
            for i, piece, part, (start, end) in zip(
                encoding.ids, encoding.tokens, data, spans, strict=True
            )
        ]
        if origin is not None:
            tokens = [moved(token, origin) for token in tokens]
        return tokens, encoding.word_ids

    def _data_of(self, ids: Sequence[int], text: bytes) -> list[bytes]:
        """Return each token's bytes, without the space that the tokenizer itself put in front."""
        data, position, lead_expected = [], 0, self._spelling.lead != "never"
        for token_id in ids:
            lead = lead_expected and self._spelling.adds_lead(text[position : position + 3])
            part, lead_expected = self._emit(token_id, lead)
            data.append(part)
            position += len(part)
        return data

    def unrepresentable(self, text: str) -> list[tuple[str, int]]:
        """List the characters, with their index, that do not survive `encode`.

        Lone surrogates always; in a byte-level vocabulary characters with a byte that it lacks
        (U+0004 in the default one); in others characters that become the unknown token, and `▁`,
        which they read as a space.
        """
        return self._coverage.gaps(text)

    @cached_property
    def _coverage(self) -> Coverage:
        """What the vocabulary can represent, as plain text is read."""
        return Coverage(self._plain, self._spelling)

    def merges(self, text: str, *, only: int | None = None) -> list[MergeSteps]:
        """Show byte-pair encoding at work: each pre-token's way from symbols to tokens.

        Args:
            text: Any string; control-token text in it is plain text.
            only: The number of the one pre-token whose steps are wanted. A long text has thousands
                of pre-tokens, and their steps take seconds.

        Raises:
            EngineError: This vocabulary is not one of byte-pair encoding.
        """
        if self._bpe is None:
            raise EngineError("This tokenizer does not work by merges (byte-pair encoding).")
        tokens, words = self._encode(self._plain, text)
        byte_pieces = (token.id for token in tokens if self._spelling.is_atom(token.piece))
        atoms = {*self._added, self._coverage.unknown_id, *byte_pieces}
        return merge_steps(self._bpe, tokens, words, atoms, only)

    @cached_property
    def _bpe(self) -> BpeTable | None:
        """The list of merges; None if the tokenizer has none."""
        return read_table(self._source)

    @cached_property
    def bos_ids(self) -> tuple[int, ...]:
        """Ids that the model expects before any text; empty for the default model."""
        probe = reading(self._source, control_ids=self.special_ids, parse_special=False)
        probe.post_processor = self._source.post_processor
        encoding = probe.encode("a")
        mask = [*encoding.special_tokens_mask, 0]
        return tuple(encoding.ids[: mask.index(0)])

    # Turns to tokens

    @property
    def has_chat(self) -> bool:
        """Whether the model knows turns."""
        return self._chat is not None

    def chat_text(self, messages: Sequence[Message]) -> str:
        """Return turns as the one text that the model was trained to continue.

        Args:
            messages: `[{"role": "user", "content": "Hi"}]`.

        Raises:
            EngineError: The model has no chat template, or it refuses these turns.
        """
        return self._template.render(messages)

    def chat_tokens(
        self, messages: Sequence[Message], *, parse_special_in_content: bool = False
    ) -> list[Token]:
        """Cut turns into tokens, with spans in `chat_text(messages)`.

        Args:
            messages: As for `chat_text`.
            parse_special_in_content: Whether control-token text that stands in a turn becomes
                control tokens, so that a user can forge turns. If not, it is text.

        Raises:
            EngineError: As `chat_text`.
        """
        if parse_special_in_content:
            return self.encode(self.chat_text(messages), parse_special=True)
        text, breaker = self._template.render_broken(
            messages,
            controls=[self._added[i] for i in self.special_ids - self._tag_ids],
            tags=[self._added[i] for i in self._tag_ids],
        )
        if breaker not in text:
            return self.encode(text, parse_special=True)
        backend = reading(
            self._source, control_ids=self.special_ids, parse_special=True, breaker=breaker
        )
        return self._encode(backend, text, breaker)[0]

    def chat(
        self, messages: Sequence[Message], *, parse_special_in_content: bool = False
    ) -> list[int]:
        """Return the ids of `chat_tokens`."""
        tokens = self.chat_tokens(messages, parse_special_in_content=parse_special_in_content)
        return [token.id for token in tokens]

    def chat_span(self, content: str) -> tuple[int, int]:
        """Return where a user's words stand in `chat_text` of that one turn, `(start, end)`.

        All around them is the template's own. A template that trims a turn trims the span too.

        Raises:
            EngineError: As `chat_text`.
        """
        return self._template.user_span(content)

    def forged_turn(self, words: str, order: str) -> str | None:
        """Return a user's words that close their own turn and open a system turn with `order`.

        Typed by a user and read as control tokens, they pass for a turn that the operator wrote.

        Returns:
            The text, or None where the template allows no system turn there.

        Raises:
            EngineError: The model has no chat template.
        """
        return self._template.forged_turn(words, order)

    @property
    def _template(self) -> ChatTemplate:
        """The chat template, or an EngineError where there is none."""
        if self._chat is None:
            raise EngineError("This model has no chat template. Give it plain text to continue.")
        return self._chat
