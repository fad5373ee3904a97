"""Twins of a `tokenizers` backend that read control-token text either as text or as control tokens.

Also here: a repair for bytes that a byte-level vocabulary has no symbol for.
"""

from __future__ import annotations

from tokenizers import AddedToken, Encoding, Regex, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Backend

from engine.basics.errors import EngineError
from engine.tokenizer.spelling import BYTE_SYMBOLS, read_spelling


def encoded(backend: Backend, text: str) -> Encoding:
    """Return what a tokenizer makes of a text, without tokens of its own.

    Raises:
        EngineError: The tokenizer breaks down, as a regular expression that runs away does.
    """
    try:
        return backend.encode(text, add_special_tokens=False)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        raise EngineError(
            "The model's tokenizer breaks down on this text: its own rule for cutting text into "
            "words can't cope with it. Change the text, or choose another model."
        ) from error


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
