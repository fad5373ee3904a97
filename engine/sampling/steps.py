"""The steps of the sampling chain, such as top-k and top-p: pure functions, logits to logits.

Logits are [V] float32. A removed token has the logit -inf, and every step leaves at least one.
Each step gives what transformers' processor of the same name gives on the same logits. The order
of the steps and the rule for ties are in `engine.sampling.chain`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.basics.arrays import Array, Flags, Ids
from engine.sampling.settings import SettingsError

if TYPE_CHECKING:
    import torch

LARGEST = np.float32(1e30)
"""Logits stay within this, so that a difference of two fits float32. Real ones stay below 1e3."""


class Change(NamedTuple):
    """The logits after a step, where it cut (see `chain.Stage.cutoff`), and a remark."""

    logits: Array
    cutoff: float | None = None
    note: str = ""


def softmax(logits: Array) -> Array:
    """Return exp(logits) over their sum, [V] float32; the largest logit must be finite.

    Subtracting the largest logit first changes no probability and keeps exp within range. The sum
    is taken in float64: over 49,152 float32 terms torch's own sum is off by up to 2e-6.
    """
    # `distribution.softmax` computes in float64 throughout. This one stays in float32 and takes a
    # third of the time, because it runs at every move of a slider.
    weights = np.exp(logits - logits.max())
    probabilities: Array = weights / np.float32(weights.sum(dtype=np.float64))
    return probabilities


def repetition_penalty(logits: Array, penalty: float, context: Ids) -> Change:
    """Divide positive logits of seen tokens by the penalty, multiply negative ones by it.

    It applies once per token, however often the token was seen. Source: CTRL (Keskar et al. 2019),
    as in transformers' RepetitionPenaltyLogitsProcessor.
    """
    seen = np.unique(context)
    factor = np.float32(max(penalty, 1e-30))
    out = logits.copy()
    with np.errstate(over="ignore"):
        out[seen] = np.where(out[seen] < 0, out[seen] * factor, out[seen] / factor)
    return Change(within_range(out, logits))


def count_penalties(logits: Array, presence: float, frequency: float, counted: Ids) -> Change:
    """Subtract `presence` once and `frequency` per occurrence from the tokens that are counted.

    Source: OpenAI's API reference, where only generated tokens count.
    """
    seen, counts = np.unique(counted, return_counts=True)
    out = logits.copy()
    out[seen] -= (presence + frequency * counts).astype(np.float32)
    return Change(out)


def logit_bias(logits: Array, bias: Sequence[tuple[int, float]]) -> Change:
    """Add each bias to its token's logit; -inf bans the token.

    Raises:
        SettingsError: an id is outside the vocabulary, or every token is banned.
    """
    outside = [token_id for token_id, _ in bias if token_id >= len(logits)]
    if outside:
        raise SettingsError(
            f"logit_bias names {listed(outside)}, but this model's ids end at {len(logits) - 1}."
        )
    out = logits.copy()
    for token_id, value in bias:
        out[token_id] += np.float32(value)
    if out.max() == -np.inf:
        raise SettingsError("logit_bias bans every token that was left; lift at least one ban.")
    banned = sum(value == -np.inf for _, value in bias)
    return Change(out, note=f"{banned} banned." if banned else "")


def temperature(logits: Array, value: float) -> Change:
    """Divide the logits by the temperature; 0 keeps the largest logit alone (argmax)."""
    if value == 0.0:
        return _argmax(logits)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        out = logits / np.float32(value)
    if out.max() <= LARGEST:  # False for NaN, too: 0 / 0 if the temperature rounds to 0
        return Change(within_range(out, logits))
    # The softmax is the same for logits counted from the largest, and that one cannot overflow.
    with np.errstate(over="ignore"):
        out = ((logits.astype(np.float64) - float(logits.max())) / value).astype(np.float32)
    note = "The largest logit would not fit: all are counted from it, which changes no probability."
    return Change(within_range(out, logits), note=note)


def _argmax(logits: Array) -> Change:
    """Keep only the largest logit; among equal ones the lowest id."""
    best = int(logits.argmax())
    out = np.full_like(logits, -np.inf)
    out[best] = logits[best]
    tied = int((logits == logits[best]).sum())
    tie = f" {tied} tokens tie; the lowest id wins." if tied > 1 else ""
    note = f"Temperature 0 means argmax: the largest logit wins, nothing is left to chance.{tie}"
    return Change(out, note=note)


def top_k(logits: Array, k: int) -> Change:
    """Keep the k largest logits and whatever equals the smallest of them.

    Source: Fan et al. 2018, as in transformers' TopKLogitsWarper.
    """
    if k >= len(logits):
        return Change(
            logits, note=f"k is not below the vocabulary's {len(logits)}: nothing to cut."
        )
    cutoff = np.partition(logits, len(logits) - k)[len(logits) - k]
    kept = logits >= cutoff
    extra = int(kept.sum()) - k
    note = f"{extra} more tie with the last one." if extra > 0 and cutoff > -np.inf else ""
    return Change(_only(logits, kept), float(cutoff), note)


def top_p(logits: Array, mass: float) -> Change:
    """Keep the smallest set of likeliest tokens that holds `mass`; always the likeliest one.

    Source: nucleus sampling (Holtzman et al. 2019), as in transformers' TopPLogitsWarper: from the
    least likely up, remove while the removed mass is at most 1 - mass.
    """
    ascending = np.sort(logits)
    shares, below = shares_from_below(ascending)
    removed = int(np.searchsorted(below, np.float32(1.0 - mass), side="right"))
    removed = min(removed, len(ascending) - 1)
    cutoff = ascending[removed]
    kept = logits > cutoff
    # The set may end among equal logits: then the lowest ids fill it up.
    room = len(ascending) - removed - int(kept.sum())
    equals = np.flatnonzero(logits == cutoff)
    kept[equals[:room]] = True
    cut = len(equals) - room
    note = f"{cut} more tie with the last one; lower ids went first." if cut else ""
    return Change(_only(logits, kept), float(shares[removed]), note)


def min_p(logits: Array, share: float) -> Change:
    """Keep tokens with at least `share` of the top probability.

    Source: Nguyen et al. 2024, as in transformers' MinPLogitsWarper.
    """
    probabilities = _torch_row(logits).softmax(-1).numpy()
    cutoff = np.float32(share) * probabilities.max()
    return Change(_only(logits, probabilities >= cutoff), float(cutoff))


def typical(logits: Array, mass: float) -> Change:
    """Keep `mass` of the tokens whose surprise lies closest to the average surprise (entropy).

    Source: Meister et al. 2022, as in transformers' TypicalLogitsWarper. Even the likeliest
    token can be removed, if it is less surprising than is typical.
    """
    log_shares = _torch_row(logits)[None].log_softmax(-1)
    entropy = -(log_shares * log_shares.exp()).nansum(-1, keepdim=True)
    distance = (-log_shares - entropy).abs()[0].numpy()
    order = np.argsort(distance)  # what is removed already is infinitely far, so it comes last
    _, mass_to_here = shares_from_below(logits[order])
    alive = logits > -np.inf
    last = int((mass_to_here < np.float32(mass)).sum())
    cutoff = distance[order[min(last, int(alive.sum()) - 1)]]
    kept = alive & (distance <= cutoff)
    return Change(_only(logits, kept), float(cutoff / np.log(2.0)))


def shares_from_below(ordered: Array) -> tuple[Array, Array]:
    """Return the probability of each logit of a row, and the sum of those up to it, both [V].

    Torch computes them, in the order that is given, because a mass can hit a setting exactly: then
    the last bit decides what is kept, and it is to be that of transformers' warpers.
    """
    shares = _torch_row(ordered).softmax(-1)
    return shares.numpy(), shares.cumsum(-1).numpy()


def _torch_row(logits: Array) -> torch.Tensor:
    """Return a copy of a row, which may be read-only, as a tensor.

    Torch is imported here, so that settings can be shown and checked before it is loaded.
    """
    import torch

    return torch.from_numpy(logits.copy())


def within_range(logits: Array, before: Array) -> Array:
    """Return the logits limited to ±LARGEST, with -inf only where `before` has it."""
    if logits.min() >= -LARGEST and logits.max() <= LARGEST:
        return logits
    limited = np.clip(logits, -LARGEST, LARGEST)
    limited[before == -np.inf] = -np.inf
    return limited


def _only(logits: Array, kept: Flags) -> Array:
    """Return the logits with -inf wherever a token is not kept."""
    return np.where(kept, logits, np.float32(-np.inf))


def listed(ids: Sequence[int]) -> str:
    """Return up to five ids as words, for error messages."""
    shown = ", ".join(map(str, ids[:5]))
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return f"token {shown}" if len(ids) == 1 else f"tokens {shown}{more}"
