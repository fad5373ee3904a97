"""Speculative decoding, the loop: draft, check, keep, repeat, and report every round.

Per round the draft guesses several tokens, and one pass of the target gives the distributions that
the rule in `engine.speculative.acceptance` needs. The text has exactly the target's distribution,
whatever the draft is: a good draft only makes it faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array
from engine.basics.distribution import largest
from engine.basics.errors import EngineError, checked_prompt
from engine.generation.random_numbers import random_numbers
from engine.generation.token_step import StopReason
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, final_probabilities
from engine.speculative.acceptance import Verdict, check
from engine.speculative.drafts import Draft, Proposal
from engine.speculative.rounds import CheckedToken, DraftRound, Fate, ResidualRow, Source

if TYPE_CHECKING:
    from engine.model.model import LanguageModel

RESIDUAL_ROWS = 10
"""How many tokens of a residual distribution a round reports."""


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
    """Continue a prompt, several tokens per round.

    Args:
        target: The model that writes. Its lock is held for one pass at a time.
        draft: The draft that guesses; it must be new for this run.
        ids: The prompt's tokens.
        settings: How tokens are drawn; the distributions of target and draft pass through them.
        k: Most tokens to guess per round, at least 1.
        max_new_tokens: The token budget, at least 1.
        seed: Gives this run its own random numbers.

    Returns:
        The rounds. `stop_reason` is set on the last one; nothing follows an end token.

    Raises:
        EngineError: At once, before the first round: as `generate`, or k is below 1.
        SettingsError: At once: as `generate`.
    """
    prompt = checked_prompt(ids, target.architecture, room=1)
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
        self.prompt_tokens = len(prompt)
        self.sequence = CachedPass(target, rewindable=True, keep_states=draft.reads_states)
        draft.follow(self.sequence)
        self.checking_since = 0.0

    def guess(self, count: int) -> list[Proposal]:
        """Return what the draft proposes, up to the first end token of the target."""
        proposals = self.draft.propose(self.ids, count, self.settings, self.uniform)
        stops = self.target.stop_ids
        end = next((i for i, one in enumerate(proposals) if one.id in stops), len(proposals))
        return proposals[: end + 1]

    def score(self, proposals: Sequence[Proposal]) -> list[Array]:
        """Return the target's distribution for each guess and what follows, from one pass."""
        guessed = [proposal.id for proposal in proposals]
        unread = [*self.ids[self.sequence.tokens :], *guessed]
        logits = self.sequence.advance_many(unread, len(guessed) + 1)
        self.checking_since = time.perf_counter()
        return [
            # The penalties look at a context that grows with each guess.
            final_probabilities(
                logits[i],
                self.settings,
                self.ids + guessed[:i],
                prompt_tokens=self.prompt_tokens,
            )
            for i in range(len(guessed) + 1)
        ]


def _rounds(run: _Run, k: int, most: int, is_budget: bool) -> Generator[DraftRound, None, None]:
    """Run rounds until `most` tokens are written or an end token is."""
    index, left = 0, most
    while left > 0:
        # Guess at most `left - 1`: the bonus token needs the last place.
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
        # Rejected guesses leave the cache, so that no later token attends to them.
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
    target: Sequence[Array],
    verdict: Verdict,
    new: tuple[int, ...],
    times: tuple[float, float],
    reason: StopReason | None,
) -> DraftRound:
    """Return the report of one round, in plain values."""
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
    proposals: Sequence[Proposal], target: Sequence[Array], verdict: Verdict
) -> tuple[ResidualRow, ...]:
    """Return the likeliest tokens of the residual, with the rejected and the redrawn one."""
    p, rejected = target[verdict.accepted], proposals[verdict.accepted]
    rest, q = verdict.drawn_from, rejected.q
    best = [int(i) for i in largest(rest, RESIDUAL_ROWS) if rest[i] > 0]
    best += [i for i in dict.fromkeys((verdict.id, rejected.id)) if i not in best]
    return tuple(ResidualRow(i, float(p[i]), float(q[i]), float(rest[i])) for i in best)
