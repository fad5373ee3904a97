"""Beam search: keep several continuations open at once; the best finished one wins.

At every step each open continuation (beam) is extended by every token; the `width` best sums of
log-probabilities stay open, and those that end go among the finished ones. Nothing is drawn.

Sequences and scores equal those of transformers' `generate(num_beams=width, early_stopping=False)`,
whose rules are kept: per step it looks at twice `width` candidates (more with several end tokens);
only an end among the best `width` of them counts as finished; the score of a finished continuation
is its sum divided by `length ** length_penalty`; the search stops when no open beam can beat the
worst finished one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import torch

from engine.basics.errors import EngineError, checked_prompt
from engine.basics.results import Result, Table
from engine.kv_cache.cached_pass import CachedPass

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.model.model import LanguageModel

State = Literal["kept", "dropped", "finished", "ended too low"]

MAX_WIDTH = 8


@dataclass(frozen=True)
class BeamNode(Result):
    """One continuation that was looked at: one more token after its parent."""

    index: int
    """Place in `BeamTree.nodes`."""
    parent: int | None
    """The node before it; None for the first token after the prompt."""
    depth: int
    """1 for the first token after the prompt."""
    token_id: int
    log_prob: float
    """ln p of this token after its parent."""
    total: float
    """The sum of the log-probabilities from the prompt to here."""
    state: State
    """kept: it stays open; dropped: others were better; finished: it ends here and counts; ended
    too low: it ends here but was not among the best, so it does not count."""


@dataclass(frozen=True)
class BeamHypothesis(Result):
    """A finished continuation."""

    node: int
    """Its last node."""
    ids: tuple[int, ...]
    """Its tokens after the prompt."""
    total: float
    """The sum of its log-probabilities."""
    score: float
    """`total / length ** length_penalty`; the highest wins."""
    ended: bool
    """Whether it ends with an end token; False if it ends because the budget is used up."""


@dataclass(frozen=True)
class BeamTree(Table):
    """A whole search."""

    rows = "nodes"

    width: int
    length_penalty: float
    nodes: tuple[BeamNode, ...]
    hypotheses: tuple[BeamHypothesis, ...]
    """Finished ones, best first; at most `width`."""
    cancelled: bool = False

    def path(self, node: int) -> tuple[int, ...]:
        """Return the nodes from the first token to `node`."""
        steps: list[int] = []
        at: int | None = node
        while at is not None:
            steps.append(at)
            at = self.nodes[at].parent
        return tuple(reversed(steps))


def beam_search(
    model: LanguageModel,
    ids: Sequence[int],
    *,
    width: int,
    max_new_tokens: int,
    length_penalty: float = 1.0,
    progress: Callable[[int], None] = lambda depth: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> BeamTree:
    """Search for the continuation with the best score.

    Args:
        model: Its lock is held for one pass at a time.
        ids: The prompt's tokens.
        width: How many continuations stay open, 1 to 8; 1 is greedy decoding.
        max_new_tokens: The longest continuation.
        length_penalty: 0 compares the sums, 1 the mean per token; above 1 favours long ones, below
            0 short ones.
        progress: Told the depth after each step.
        cancelled: Asked before each step; true ends the search with what is finished so far.

    Raises:
        EngineError: No tokens, no room for the answer, or a number out of range.
    """
    prompt = _checked(model, ids, width, max_new_tokens)
    search = _Search(model, width, max_new_tokens, float(length_penalty))
    rows = CachedPass(model)
    log_probs = _log_probs(rows.advance_rows([prompt]))
    while not cancelled():
        parents, tokens = search.extend(log_probs)
        progress(search.depth)
        if search.over:
            return search.tree()
        rows.follow(parents)
        log_probs = _log_probs(rows.advance_rows([[token] for token in tokens]))
    return search.tree(cancelled=True)


def _log_probs(logits: Array) -> torch.Tensor:
    """Return ln p of every token in each row `[B, V]`, in float32 as transformers' beam search."""
    return torch.from_numpy(logits).log_softmax(-1)


class _Search:
    """The open beams, the finished ones and everything that was looked at."""

    def __init__(self, model: LanguageModel, width: int, budget: int, penalty: float) -> None:
        self.ends = model.stop_ids
        self.width, self.budget, self.penalty = width, budget, penalty
        self.looked_at = max(2, 1 + len(self.ends)) * width
        self.depth = 0
        self.over = False
        self.nodes: list[BeamNode] = []
        self.open: list[tuple[int | None, float]] = [(None, 0.0)]  # (node, sum of ln p)
        self.finished: list[BeamHypothesis] = []

    def extend(self, log_probs: torch.Tensor) -> tuple[list[int], list[int]]:
        """Take one step; return the rows and tokens with which the next one goes on."""
        self.depth += 1
        sums = torch.tensor([total for _, total in self.open], dtype=torch.float32)
        totals = log_probs + sums[:, None]
        best = totals.flatten().topk(min(self.looked_at, totals.numel()))
        places = [divmod(int(i), totals.shape[1]) for i in best.indices]
        at_budget = self.depth == self.budget
        going: list[tuple[int, int, int, float]] = []
        for rank, ((row, token), total) in enumerate(
            zip(places, best.values.tolist(), strict=True)
        ):
            ends = token in self.ends or at_budget
            node = self._add(row, token, float(log_probs[row, token]), total, ends, rank)
            if not ends and len(going) < self.width:
                going.append((row, token, node, total))
        self._keep_best()
        self._keep(going)
        # transformers stops when every candidate ended, or when no open beam can still win.
        self.over = not going or not self._can_improve()
        return [row for row, *_ in going], [token for _, token, *_ in going]

    def tree(self, *, cancelled: bool = False) -> BeamTree:
        """Return what was found."""
        return BeamTree(
            self.width, self.penalty, tuple(self.nodes), tuple(self.finished), cancelled
        )

    def _add(
        self, row: int, token: int, log_prob: float, total: float, ends: bool, rank: int
    ) -> int:
        """Record one candidate; if it ends and is among the best, it counts as finished."""
        counts = ends and rank < self.width
        state: State = "dropped" if not ends else "finished" if counts else "ended too low"
        parent = self.open[row][0]
        index = len(self.nodes)
        self.nodes.append(BeamNode(index, parent, self.depth, token, log_prob, total, state))
        if counts:
            ids = (*self._ids(parent), token)
            score = total / self.depth**self.penalty
            self.finished.append(BeamHypothesis(index, ids, total, score, token in self.ends))
        return index

    def _keep_best(self) -> None:
        self.finished.sort(key=lambda hypothesis: -hypothesis.score)  # stable: earlier ones first
        del self.finished[self.width :]

    def _keep(self, going: list[tuple[int, int, int, float]]) -> None:
        for _, _, index, _ in going:
            self.nodes[index] = replace(self.nodes[index], state="kept")
        self.open = [(index, total) for _, _, index, total in going]

    def _can_improve(self) -> bool:
        """Say whether the best open beam could beat the worst finished one, if it ended now."""
        if len(self.finished) < self.width:
            return True
        best = float(self.open[0][1] / self.depth**self.penalty)
        return best > self.finished[-1].score

    def _ids(self, node: int | None) -> tuple[int, ...]:
        ids: list[int] = []
        while node is not None:
            ids.append(self.nodes[node].token_id)
            node = self.nodes[node].parent
        return tuple(reversed(ids))


def _checked(
    model: LanguageModel, ids: Sequence[int], width: int, max_new_tokens: int
) -> list[int]:
    """Return the prompt as plain ints, or say what can't be."""
    if not 1 <= width <= MAX_WIDTH:
        raise EngineError(f"The beam width must be from 1 to {MAX_WIDTH}, but is {width}.")
    if max_new_tokens < 1:
        raise EngineError(f"The token budget must be at least 1, but is {max_new_tokens}.")
    return checked_prompt(ids, model.architecture, room=max_new_tokens)
