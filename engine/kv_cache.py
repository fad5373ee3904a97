"""The KV cache on the attention page: what it keeps, what it saves, and that it changes nothing.

Prefill reads n tokens at once: n rows of scores, a triangle of work. From then on each decode step
adds one row of keys and values to every layer and computes one row of scores. Without the cache
every step would be a prefill.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from engine.bounds import check_index
from engine.cached_pass import CachedPass
from engine.errors import EngineError

if TYPE_CHECKING:
    from engine.architecture import Architecture
    from engine.model import LanguageModel


@dataclass(frozen=True)
class CacheSize:
    """What the cache of one model keeps for each token, by formula."""

    name: str
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    bytes_per_number: int
    """4 for float32, 2 for bfloat16."""

    @property
    def per_token(self) -> int:
        """Bytes: a key and a value for each layer and key/value head."""
        return 2 * self.layers * self.kv_heads * self.head_size * self.bytes_per_number

    @property
    def per_token_without_sharing(self) -> int:
        """Bytes if every query head had a key and a value of its own."""
        return 2 * self.layers * self.heads * self.head_size * self.bytes_per_number


KNOWN_MODELS: tuple[CacheSize, ...] = (
    CacheSize("Llama 2 7B", 32, 32, 32, 128, 2),
    CacheSize("Llama 3 8B", 32, 32, 8, 128, 2),
    CacheSize("Llama 3 70B", 80, 64, 8, 128, 2),
    CacheSize("Llama 3.1 405B", 126, 128, 8, 128, 2),
    CacheSize("Mistral 7B", 32, 32, 8, 128, 2),
    CacheSize("Qwen3 32B", 64, 64, 8, 128, 2),
)
"""Sizes from the configurations that the models were published with, in bfloat16."""


@dataclass(frozen=True)
class CacheStep:
    """One token read in both ways."""

    context: int
    """Tokens that the step's logits depend on."""
    cached_ms: float
    """The new tokens alone, with the cache."""
    plain_ms: float
    """All tokens anew, without it."""
    cached_id: int
    """The likeliest next token with the cache."""
    plain_id: int
    """The likeliest next token without it."""
    difference: float
    """The largest difference between the two ways' logits."""
    cache_bytes: int
    """What the cache keeps after this step."""


def size_of(architecture: Architecture, name: str, bytes_per_number: int = 4) -> CacheSize:
    """Return the sizes of a loaded model."""
    return CacheSize(
        name,
        architecture.layers,
        architecture.heads,
        architecture.kv_heads,
        architecture.head_size,
        bytes_per_number,
    )


def compare(model: LanguageModel, ids: Sequence[int], steps: int) -> Iterator[CacheStep]:
    """Continue a prompt greedily, each step with the cache and without it.

    Both ways read the same tokens: the ones that the cached way chose. The first step is the
    prefill. The model's lock is held for one pass at a time.

    Args:
        model: The model.
        ids: The prompt's tokens.
        steps: How many steps, at least 1; fewer if the context is full.

    Raises:
        EngineError: No tokens, an id that does not exist, or no steps.
    """
    known = [check_index("token id", i, model.architecture.vocabulary) for i in ids]
    if not known:
        raise EngineError("There are no tokens to start from: type at least one character.")
    if steps < 1:
        raise EngineError(f"There must be at least 1 step, not {steps}.")
    return _steps(model, known, min(steps, model.architecture.context - len(known) + 1))


def _steps(model: LanguageModel, known: list[int], steps: int) -> Iterator[CacheStep]:
    sequence, unread = CachedPass(model), list(known)
    for _ in range(steps):
        cached = sequence.advance(unread)
        plain, milliseconds = plain_pass(model, known)
        best = int(cached.argmax())
        yield CacheStep(
            context=len(known),
            cached_ms=sequence.milliseconds,
            plain_ms=milliseconds,
            cached_id=best,
            plain_id=int(plain.argmax()),
            difference=float(np.abs(cached - plain).max()),
            cache_bytes=sequence.nbytes,
        )
        unread = [best]
        known.append(best)


def plain_pass(model: LanguageModel, ids: Sequence[int]) -> tuple[npt.NDArray[np.float32], float]:
    """Read all tokens without a cache.

    Returns:
        The logits `[V]` of what follows, and the milliseconds that the pass took.
    """
    with model.lock, torch.inference_mode():
        start = time.perf_counter()
        output = model.network(
            input_ids=torch.tensor([list(ids)], device=model.network.device),
            use_cache=False,
            logits_to_keep=1,
        )
        logits: npt.NDArray[np.float32] = output.logits[0, -1].float().cpu().numpy()
        return logits, (time.perf_counter() - start) * 1000
