"""The KV cache by formula: what it keeps for each token, here and in well-known models.

Each token read adds one row of keys and values to every layer. What that saves is measured in
`engine.kv_cache.step_costs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.basics.results import Result

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


@dataclass(frozen=True)
class CacheSize(Result):
    """What the cache of one model keeps for each token, by formula."""

    name: str
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    dtype: str
    """The type of the numbers that are kept, as torch names it: "float32", "bfloat16"."""
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
    CacheSize("Llama 2 7B", 32, 32, 32, 128, "float16", 2),
    CacheSize("Llama 3 8B", 32, 32, 8, 128, "bfloat16", 2),
    CacheSize("Llama 3 70B", 80, 64, 8, 128, "bfloat16", 2),
    CacheSize("Llama 3.1 405B", 126, 128, 8, 128, "bfloat16", 2),
    CacheSize("Mistral 7B v0.3", 32, 32, 8, 128, "bfloat16", 2),
    CacheSize("Qwen3 32B", 64, 64, 8, 128, "bfloat16", 2),
)
"""Sizes and number types from the configurations that the models were published with."""


def size_of(model: LanguageModel) -> CacheSize:
    """Return the sizes of a loaded model; its cache keeps numbers of the type that it computes in.

    For full attention: layers with a sliding window keep no more than the window.
    """
    shape, dtype = model.architecture, model.network.dtype
    return CacheSize(
        model.name,
        shape.layers,
        shape.heads,
        shape.kv_heads,
        shape.head_size,
        str(dtype).removeprefix("torch."),
        dtype.itemsize,
    )
