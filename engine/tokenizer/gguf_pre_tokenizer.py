"""The pre-tokenizer that a GGUF file names, put where transformers builds a wrong one."""

from __future__ import annotations

from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import pre_tokenizers

# GGUF names of pre-tokenizers that take every digit alone before the GPT-2 pattern (llama.cpp,
# `llm_tokenizer_bpe`), and of the GPT-2 pattern by itself.
_DIGITS_THEN_GPT2 = frozenset(
    {"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"}
)
_GPT2 = frozenset({"gpt-2", "phi-2", "jina-es", "jina-de", "mpt", "olmo", "jais", "trillion"})


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
