"""How much a step computes, by formula: the part that stays the same, and the part that grows.

With the KV cache a step multiplies every matrix by one token's vector, however long the text is:
O(1). In attention it computes one row of scores over all n tokens so far, and one sum of their
values: O(n). Without the cache the matrices would read all n tokens again at each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.basics.results import Result

if TYPE_CHECKING:
    from engine.network.architecture import Architecture


@dataclass(frozen=True)
class StepWork(Result):
    """Multiplications of one step with the cache. Norms, biases and softmax are left out."""

    matrices: int
    """In the matrices of all layers and in the LM head: the same at each step."""
    per_token: int
    """In attention, for each token that is read: a product with its key and one with its value."""

    def attention(self, tokens: int) -> int:
        """Return the multiplications in attention at a text of so many tokens."""
        return self.per_token * tokens

    @property
    def equal_at(self) -> int:
        """The length of the text from which attention takes at least as much as the matrices."""
        return -(-self.matrices // self.per_token)


def step_work(architecture: Architecture) -> StepWork:
    """Count the multiplications of one step. In a mixture of experts one expert is counted."""
    heads = architecture.heads * architecture.head_size
    groups = architecture.kv_heads * architecture.head_size
    attention = architecture.width * (2 * heads + 2 * groups)  # Q, output, K and V
    feed_forward = architecture.width * architecture.ff_width * (3 if architecture.gated else 2)
    layers = architecture.layers * (attention + feed_forward)
    lm_head = architecture.width * architecture.vocabulary
    return StepWork(layers + lm_head, 2 * architecture.layers * heads)
