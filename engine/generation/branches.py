"""The tree of answers to one prompt: every token with its settings, and where answers branch.

Taking another token in the middle of an answer begins a branch: both answers share the text up to
there, and both are kept. Nothing is ever overwritten. All values are frozen: adding something gives
a new tree that shares everything else with the old one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.basics.errors import EngineError
from engine.basics.results import Result
from engine.generation.token_step import TokenStep
from engine.sampling.settings import SamplingSettings


@dataclass(frozen=True)
class Setup(Result):
    """What a run was started with."""

    settings: SamplingSettings
    seed: int
    stop: tuple[str, ...] = ()
    budget: int = 1
    """Most tokens that the run may write."""


@dataclass(frozen=True)
class Written(Result):
    """One token of an answer, and the setup of the run that wrote it."""

    step: TokenStep
    setup: Setup


@dataclass(frozen=True)
class Branch(Result):
    """The tokens that an answer adds after it leaves another one, or the prompt."""

    parent: int | None
    """The branch that it leaves, or None if it begins at the prompt."""
    at: int
    """How many tokens of the answer come before its own."""
    own: tuple[Written, ...] = ()


@dataclass(frozen=True)
class Tree(Result):
    """All answers to one prompt, in the order in which they were begun."""

    branches: tuple[Branch, ...] = ()

    def path(self, branch: int) -> tuple[Written, ...]:
        """Return the whole answer that ends with this branch, from the prompt on."""
        chosen = self.branches[branch]
        if chosen.parent is None:
            return chosen.own
        return self.path(chosen.parent)[: chosen.at] + chosen.own

    def ids(self, branch: int) -> tuple[int, ...]:
        """Return the token ids of a whole answer."""
        return tuple(written.step.id for written in self.path(branch))

    def children(self, branch: int | None) -> tuple[int, ...]:
        """Return the branches that leave this one (None: that begin at the prompt)."""
        return tuple(i for i, entry in enumerate(self.branches) if entry.parent == branch)

    def with_branch(self, parent: int | None, at: int) -> Tree:
        """Begin a branch, the last of `branches`.

        Args:
            parent: The answer that it leaves, or None to begin at the prompt.
            at: How many of that answer's tokens stay.

        Raises:
            EngineError: That answer has fewer than `at` tokens.
        """
        length = 0 if parent is None else len(self.path(parent))
        if not 0 <= at <= length:
            raise EngineError(f"This answer has {length} tokens, so it can't part after {at}.")
        # A branch that parts before its parent does belongs to the parent's parent.
        while parent is not None and at < self.branches[parent].at:
            parent = self.branches[parent].parent
        branch = Branch(parent if at else None, at)  # after no token: it begins at the prompt
        return replace(self, branches=(*self.branches, branch))

    def with_token(self, branch: int, written: Written) -> Tree:
        """Add a token at the end of an answer."""
        return self.with_own(branch, (*self.branches[branch].own, written))

    def with_own(self, branch: int, own: tuple[Written, ...]) -> Tree:
        """Put other tokens in the place of a branch's own."""
        grown = replace(self.branches[branch], own=own)
        branches = (*self.branches[:branch], grown, *self.branches[branch + 1 :])
        return replace(self, branches=branches)
