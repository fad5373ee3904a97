"""The rule of speculative decoding: which guesses are kept, and what is drawn after them.

    draft:  x1 ~ q1, x2 ~ q2, ..., xk ~ qk         cheap, one after the other
    target: p1, ..., pk, p(k+1)                    one pass over all of them
    keep x1, x2, ... while u < p(x) / q(x)
    at the first rejection: redraw from max(p - q, 0), normalised
    if all are kept: one more token (the bonus) from p(k+1)

What comes out is distributed exactly as the target's own tokens, whatever q is. Source: Leviathan,
Kalman and Matias, "Fast inference from transformers via speculative decoding" (2023); Chen et al.,
"Accelerating large language model decoding with speculative sampling" (2023). Needs numpy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array
from engine.basics.results import Result
from engine.sampling.chain import draw

if TYPE_CHECKING:
    from engine.speculative.drafts import Proposal


@dataclass(frozen=True, eq=False)
class Verdict(Result):
    """What a check decides: how many guesses are kept, and the token after them."""

    accepted: int
    numbers: tuple[float, ...]
    """The random number of each checked guess: the accepted ones and the rejected one."""
    id: int
    """The token drawn after the accepted ones: redrawn after a rejection, else the bonus."""
    u: float
    """The random number that drew it."""
    drawn_from: Array
    """[V] the distribution that the token was drawn from."""


def check(
    proposals: Sequence[Proposal], target: Sequence[Array], uniform: Callable[[], float]
) -> Verdict:
    """Decide which guesses are kept, and draw the token after them.

    Args:
        proposals: k guesses with the distributions that they were drawn from.
        target: k + 1 distributions [V] of the target: one for each guess, one for what follows all.
        uniform: Gives the next random number in [0, 1).
    """
    numbers: list[float] = []
    for proposal, p in zip(proposals, target, strict=False):
        numbers.append(uniform())
        if numbers[-1] * float(proposal.q[proposal.id]) >= float(p[proposal.id]):
            rest = residual(p, proposal.q)
            u = uniform()
            return Verdict(len(numbers) - 1, tuple(numbers), draw(rest, u), u, rest)
    last = target[len(proposals)]
    u = uniform()
    return Verdict(len(numbers), tuple(numbers), draw(last, u), u, last)


def residual(p: Array, q: Array) -> Array:
    """Return max(p - q, 0), normalised: the part of p that the draft does not already cover.

    If nothing is left, because p and q differ by rounding only, this is p itself.
    """
    rest = np.maximum(p.astype(np.float64) - q, 0.0)
    total = rest.sum()
    return (rest / total).astype(np.float32) if total > 0 else p


def acceptance(p: Array, q: Array) -> float:
    """Return the probability that a token drawn from q is accepted: the sum of min(p, q)."""
    return float(np.minimum(p, q).sum(dtype=np.float64))
