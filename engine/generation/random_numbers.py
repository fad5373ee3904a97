"""The random numbers of one run: a seed in, uniform numbers in [0, 1) out, one per token."""

from __future__ import annotations

from collections.abc import Callable

import torch

from engine.basics.errors import EngineError


def random_numbers(seed: int) -> Callable[[], float]:
    """Return a function that gives the next random number of one run at each call.

    The numbers are float64 in [0, 1), so that even very rare tokens can be drawn.

    Raises:
        EngineError: The seed is not a whole number of at most 64 bits.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not -(2**63) <= seed < 2**64:
        raise EngineError(f"The seed must be a whole number of at most 64 bits, but is {seed!r}.")
    generator = torch.Generator().manual_seed(seed)
    return lambda: float(torch.rand((), dtype=torch.float64, generator=generator))


def uniforms(seed: int, count: int) -> tuple[float, ...]:
    """Return the first `count` random numbers of a run with this seed.

    `generate` draws token i with number i, so a page can show a draw without running the model.

    Raises:
        EngineError: The seed is not a whole number of at most 64 bits.
    """
    uniform = random_numbers(seed)
    return tuple(uniform() for _ in range(count))
