"""What one round of speculative decoding reports: each guess, its fate, and what followed.

Neither torch nor transformers is imported, so that a page can show rounds without a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.basics.results import Result, Table
from engine.generation.token_step import StopReason

Fate = Literal["accepted", "rejected", "not checked"]
Source = Literal["redrawn", "bonus", "drawn"]


@dataclass(frozen=True)
class CheckedToken(Result):
    """One guessed token and what became of it."""

    id: int
    data: bytes
    p: float
    """The target's probability of it, after the sampling settings."""
    q: float
    """The probability with which the draft drew it."""
    u: float | None
    """The random number of its check: it is accepted if u < p / q. None if it was not checked."""
    fate: Fate


@dataclass(frozen=True)
class ResidualRow(Result):
    """One token of the distribution from which a rejected one is redrawn."""

    id: int
    p: float
    q: float
    probability: float
    """max(p - q, 0), normalised."""


@dataclass(frozen=True)
class DraftRound(Table):
    """One guess of several tokens and its check."""

    rows = "proposed"

    index: int
    proposed: tuple[CheckedToken, ...]
    source: Source | None
    """Where the last token of the round comes from: "redrawn" after a rejection, "bonus" if all
    guesses were accepted, "drawn" if there were none. None if the round ends with a guessed end
    token."""
    last: CheckedToken | None
    """That token; its p is the probability with which it was drawn, q is 0."""
    residual: tuple[ResidualRow, ...]
    """After a rejection: the likeliest tokens of the residual distribution."""
    ids: tuple[int, ...]
    """What the round adds to the text."""
    draft_milliseconds: float
    """Time for the guesses, sampling steps included, without waiting for other runs."""
    check_milliseconds: float
    """Time for the target's pass, the sampling steps and the check."""
    stop_reason: StopReason | None

    @property
    def accepted(self) -> int:
        """How many guesses were kept."""
        return sum(token.fate == "accepted" for token in self.proposed)

    @property
    def checked(self) -> int:
        """How many guesses were checked; those after a rejected one are not."""
        return sum(token.fate != "not checked" for token in self.proposed)
