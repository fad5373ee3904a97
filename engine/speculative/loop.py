"""Output, speculative decoding: a draft guesses several tokens, one pass of the target checks them.

    draft: x1 ~ q1, x2 ~ q2, ..., xk ~ qk          cheap, one after the other
    target: p1, ..., pk, p(k+1)                    one pass over all of them
    keep x1, x2, ... while u < p(x) / q(x)
    at the first rejection: redraw from max(p - q, 0), normalised
    if all are kept: one more token from p(k+1)

The text has exactly the target's distribution, whatever the draft is: a good draft only makes it
faster. Source: Leviathan, Kalman and Matias, "Fast inference from transformers via speculative
decoding" (2023); Chen et al., "Accelerating large language model decoding with speculative
sampling" (2023).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from engine.basics.errors import EngineError
from engine.generation.loop import StopReason, checked_prompt, random_numbers
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, draw, final_probabilities
from engine.speculative.drafts import Draft, Proposal
from engine.speculative.rounds import CheckedToken, DraftRound, Fate, ResidualRow, Source

if TYPE_CHECKING:
    from engine.model.model import LanguageModel

__all__ = [
    "CheckedToken",
    "DraftRound",
    "ResidualRow",
    "Verdict",
    "acceptance",
    "check",
    "residual",
    "speculate",
]

Floats = npt.NDArray[np.float32]

RESIDUAL_ROWS = 10
"""How many tokens of a residual distribution a round reports."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a check decides."""

    accepted: int
    numbers: tuple[float, ...]
    """The random number of each guess that was checked: one more than accepted, or all."""
    id: int
    """The token that is redrawn, or the bonus."""
    u: float
    """The random number that drew it."""
    drawn_from: Floats
    """[V] the distribution that it was drawn from."""


def check(
    proposals: Sequence[Proposal], target: Sequence[Floats], uniform: Callable[[], float]
) -> Verdict:
    """Decide which guesses are kept, and draw the token after them.

    Args:
        proposals: k guesses with the distributions that they were drawn from.
        target: k + 1 distributions [V] of the target, one before each guess and one after all.
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


def residual(p: Floats, q: Floats) -> Floats:
    """Return max(p - q, 0), normalised: what is left of p beyond what the draft already gave.

    If nothing is left (p and q differ by rounding only), p itself.
    """
    rest = np.maximum(p.astype(np.float64) - q, 0.0)
    total = rest.sum()
    return (rest / total).astype(np.float32) if total > 0 else p


def acceptance(p: Floats, q: Floats) -> float:
    """Return how likely a token drawn from q is accepted: sum of min(p, q)."""
    return float(np.minimum(p, q).sum(dtype=np.float64))


def speculate(
    target: LanguageModel,
    draft: Draft,
    ids: Sequence[int],
    settings: SamplingSettings,
    *,
    k: int,
    max_new_tokens: int,
    seed: int,
) -> Generator[DraftRound, None, None]:
    """Continue a prompt, several tokens a round.

    Args:
        target: The model whose text it is. Its lock is held for one pass at a time.
        draft: What guesses, new for this run.
        ids: The prompt's tokens.
        settings: How tokens are drawn; target and draft both go through them.
        k: How many tokens are guessed at most in a round, at least 1.
        max_new_tokens: The token budget, at least 1.
        seed: Gives this run its own random numbers.

    Returns:
        The rounds. `stop_reason` is set on the last one; nothing follows an end token.

    Raises:
        EngineError: At once: as `generate`, or k below 1.
        SettingsError: At once: as `generate`.
    """
    prompt = checked_prompt(ids, target)
    if max_new_tokens < 1 or k < 1:
        raise EngineError(
            f"Budget and guesses must be at least 1, but are {max_new_tokens} and {k}."
        )
    final_probabilities(np.zeros(target.architecture.vocabulary, np.float32), settings, prompt)
    room = target.architecture.context - len(prompt)
    run = _Run(target, draft, settings, random_numbers(seed), prompt)
    return _rounds(run, k, min(max_new_tokens, room), max_new_tokens <= room)


class _Run:
    """What one run carries from round to round."""

    def __init__(
        self,
        target: LanguageModel,
        draft: Draft,
        settings: SamplingSettings,
        uniform: Callable[[], float],
        prompt: list[int],
    ) -> None:
        self.target = target
        self.draft = draft
        self.settings = settings
        self.uniform = uniform
        self.ids = prompt
        self.sequence = CachedPass(target, rewindable=True, keep_states=draft.reads_states)
        draft.follow(self.sequence)
        self.checking_since = 0.0

    def guess(self, count: int) -> list[Proposal]:
        """Return what the draft proposes, up to the first end token of the target."""
        proposals = self.draft.propose(self.ids, count, self.settings, self.uniform)
        stops = self.target.stop_ids
        end = next((i for i, one in enumerate(proposals) if one.id in stops), len(proposals))
        return proposals[: end + 1]

    def score(self, proposals: Sequence[Proposal]) -> list[Floats]:
        """Return the target's distribution before each guess and after all, from one pass."""
        guessed = [proposal.id for proposal in proposals]
        unread = [*self.ids[self.sequence.tokens :], *guessed]
        logits = self.sequence.advance_many(unread, len(guessed) + 1)
        self.checking_since = time.perf_counter()
        return [
            # The penalties look at a context that grows with each guess.
            final_probabilities(logits[i], self.settings, self.ids + guessed[:i])
            for i in range(len(guessed) + 1)
        ]


def _rounds(run: _Run, k: int, most: int, is_budget: bool) -> Generator[DraftRound, None, None]:
    """Run rounds until `most` tokens are there or an end token is."""
    index, left = 0, most
    while left > 0:
        # With one token of room left for the bonus, the budget is never passed.
        count = min(k, left - 1)
        proposals = run.guess(count) if count else []
        drafting = run.draft.milliseconds if count else 0.0
        target = run.score(proposals)
        verdict = check(proposals, target, run.uniform)
        checking = (time.perf_counter() - run.checking_since) * 1000 + run.sequence.milliseconds
        new = [proposal.id for proposal in proposals[: verdict.accepted]]
        ended = bool(new) and new[-1] in run.target.stop_ids
        if not ended:
            new.append(verdict.id)
            ended = verdict.id in run.target.stop_ids
        left -= len(new)
        full: StopReason = "token budget" if is_budget else "context limit"
        reason: StopReason | None = "end token" if ended else None if left else full
        run.ids += new
        # What was read of rejected guesses must not be seen by what comes next.
        run.sequence.rewind(len(run.ids) - 1)
        times = (drafting, checking)
        yield _report(run, index, proposals, target, verdict, tuple(new), times, reason)
        if reason is not None:
            return
        index += 1


def _report(
    run: _Run,
    index: int,
    proposals: Sequence[Proposal],
    target: Sequence[Floats],
    verdict: Verdict,
    new: tuple[int, ...],
    times: tuple[float, float],
    reason: StopReason | None,
) -> DraftRound:
    """Put a round into plain values."""
    data_of = run.target.tokenizer.bytes_of
    checked = []
    for i, (proposal, p) in enumerate(zip(proposals, target, strict=False)):
        fate: Fate = "accepted" if i < verdict.accepted else "not checked"
        if i == verdict.accepted:
            fate = "rejected"
        u = verdict.numbers[i] if i < len(verdict.numbers) else None
        q = float(proposal.q[proposal.id])
        token = proposal.id
        checked.append(CheckedToken(token, data_of(token), float(p[token]), q, u, fate))
    rejected = verdict.accepted < len(proposals)
    has_last = len(new) > verdict.accepted
    source: Source = "redrawn" if rejected else "bonus" if proposals else "drawn"
    drawn = float(verdict.drawn_from[verdict.id])
    last = CheckedToken(verdict.id, data_of(verdict.id), drawn, 0.0, verdict.u, "accepted")
    return DraftRound(
        index=index,
        proposed=tuple(checked),
        source=source if has_last else None,
        last=last if has_last else None,
        residual=_residual_rows(proposals, target, verdict) if rejected else (),
        ids=new,
        draft_milliseconds=times[0],
        check_milliseconds=times[1],
        stop_reason=reason,
    )


def _residual_rows(
    proposals: Sequence[Proposal], target: Sequence[Floats], verdict: Verdict
) -> tuple[ResidualRow, ...]:
    """Return the likeliest tokens of the residual, and the rejected and the redrawn one."""
    p, rejected = target[verdict.accepted], proposals[verdict.accepted]
    rest, q = verdict.drawn_from, rejected.q
    best = [int(i) for i in np.argsort(-rest, kind="stable")[:RESIDUAL_ROWS] if rest[i] > 0]
    best += [i for i in dict.fromkeys((verdict.id, rejected.id)) if i not in best]
    return tuple(ResidualRow(i, float(p[i]), float(q[i]), float(rest[i])) for i in best)
