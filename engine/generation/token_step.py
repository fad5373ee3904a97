"""What the loop reports per token: the token, the distribution it was drawn from, its cost.

Neither torch nor transformers is imported, so that a page can keep and show steps without a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.basics.arrays import Array
from engine.basics.distribution import likeliest
from engine.basics.results import Result, Table

StopReason = Literal["end token", "stop string", "token budget", "context limit", "cancelled"]

TOP = 10
"""How many of the likeliest tokens a step reports."""


@dataclass(frozen=True)
class Alternative(Result):
    """One token that could have been next."""

    id: int
    raw: float
    """In the model's own distribution, before the sampling settings."""
    final: float
    """In the distribution that was drawn from; 0 if the settings cut it."""


@dataclass(frozen=True)
class TokenStep(Table):
    """One turn of the loop: one token."""

    rows = "alternatives"

    index: int
    """0 for the first token of the answer."""
    id: int
    data: bytes
    """The token's own bytes, perhaps a part of a character; for a control token its name."""
    text: str
    """The text that can be shown now, often that of several tokens or none: characters whose bytes
    are complete and that begin no stop string. The end token itself gives no text."""
    probability: float
    """In the distribution that was drawn from."""
    raw_probability: float
    """In the model's own distribution, before the sampling settings."""
    alternatives: tuple[Alternative, ...]
    """The model's own likeliest tokens, at most 10, then those of the final distribution that are
    not among them, then the token itself if it is in neither."""
    entropy_bits: float
    """Entropy of the model's own distribution: 0 if one token is certain, log2(n) if n tokens are
    equally likely."""
    u: float
    """The uniform number in [0, 1) that chose the token."""
    forced: bool
    """Whether the token was taken on request, whatever u would have drawn."""
    milliseconds: float
    """Time for pass and draw, without waiting for other runs. The first step reads the prompt."""
    cache_tokens: int
    """Tokens that have been read: the prompt and all generated ones but this one."""
    cache_bytes: int
    """What their keys and values take (under a sliding window, those of the last tokens only)."""
    stop_reason: StopReason | None
    """Why the text ends with this step; None on every step but the last."""
    texts: int = 1
    """For how many texts the pass was: this one, and those of others who wrote at the time."""

    @property
    def top_raw(self) -> tuple[tuple[int, float], ...]:
        """The model's own likeliest tokens, (id, probability); equal ones by id."""
        return tuple((entry.id, entry.raw) for entry in self.alternatives[:TOP] if entry.raw > 0)

    @property
    def top_final(self) -> tuple[tuple[int, float], ...]:
        """The same of the distribution that was drawn from; only tokens that can be drawn."""
        drawable = [(entry.id, entry.final) for entry in self.alternatives if entry.final > 0]
        return tuple(sorted(drawable, key=lambda pair: (-pair[1], pair[0]))[:TOP])


def alternatives(raw: Array, final: Array, token_id: int) -> tuple[Alternative, ...]:
    """Return what could have been next, as `TokenStep.alternatives` says.

    Args:
        raw: [V] the model's own distribution.
        final: [V] the one that is drawn from.
        token_id: The token that was taken.
    """
    ids = [entry for entry, _ in likeliest(raw, TOP)]
    ids += [entry for entry, _ in likeliest(final, TOP) if entry not in ids]
    if token_id not in ids:
        ids.append(token_id)
    return tuple(Alternative(i, float(raw[i]), float(final[i])) for i in ids)
