"""Byte-pair encoding step by step: how the symbols of a word merge into its tokens.

The vocabulary of a BPE tokenizer is a list of merges in the order in which training found them. A
word starts as single symbols; again and again the adjacent pair that stands earliest in the list
becomes one piece, the leftmost first, until no pair of the list is left.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from tokenizers import Tokenizer as Backend

from engine.basics.results import Result, Table
from engine.tokenizer.spans import Token

MAX_SYMBOLS = 512
"""Longest pre-token, in symbols, whose steps are written out; their number grows as its square."""


@dataclass(frozen=True)
class MergeStep(Result):
    """One merge."""

    left: str
    right: str
    rank: int
    """Place of the pair in the list of merges, from 0: the lower, the earlier it was learned."""
    index: int
    """Where the pair stood among the pieces before the step."""
    pieces: tuple[str, ...]
    """All pieces after the step."""


@dataclass(frozen=True)
class MergeSteps(Table):
    """The way of one pre-token from symbols to tokens."""

    rows = "steps"

    symbols: tuple[str, ...]
    """What it starts as, in the vocabulary's form."""
    steps: tuple[MergeStep, ...]
    """Empty where nothing merges, and where the steps were not asked for."""
    pieces: tuple[str, ...]
    """What it ends as: the tokens' pieces."""
    start: int
    """First character of the text that belongs to it."""
    end: int
    """One past its last character."""
    whole: bool
    """Whether it was found whole (an added token, or a vocabulary that looks up words first)."""
    capped: bool
    """Whether it has more than `MAX_SYMBOLS` symbols, so that its steps are left out."""


@dataclass(frozen=True)
class BpeTable:
    """The list of merges, by pair."""

    ranks: Mapping[tuple[str, str], int]
    words_first: bool
    """Whether a pre-token that is in the vocabulary as a whole skips the merges (Llama 3)."""

    def steps(self, symbols: Sequence[str]) -> list[MergeStep]:
        """Merge symbols to the end, one pair per step.

        Source: `Word::merge_all` of Hugging Face tokenizers, whose order this is: the lowest rank
        first, and of equal ranks the leftmost.
        """
        pieces = list(symbols)
        steps: list[MergeStep] = []
        while True:
            pairs = pairwise(pieces)
            ranked = [(self.ranks[p], i) for i, p in enumerate(pairs) if p in self.ranks]
            if not ranked:
                return steps
            rank, i = min(ranked)
            left, right = pieces[i : i + 2]
            pieces[i : i + 2] = [left + right]
            steps.append(MergeStep(left, right, rank, i, tuple(pieces)))


def read_table(backend: Backend) -> BpeTable | None:
    """Read the merges of a tokenizer; None if its model is not byte-pair encoding."""
    model = json.loads(backend.model.__getstate__())
    if model.get("type") != "BPE":
        return None
    pairs = (m.split(" ", 1) if isinstance(m, str) else m for m in model["merges"])
    ranks = {(left, right): rank for rank, (left, right) in enumerate(pairs)}
    return BpeTable(ranks, words_first=bool(model.get("ignore_merges")))


def merge_steps(
    table: BpeTable,
    tokens: Sequence[Token],
    words: Sequence[int | None],
    atoms: Container[int | None],
    only: int | None = None,
) -> list[MergeSteps]:
    """Show how each pre-token of a text became its tokens.

    Args:
        table: The merges.
        tokens: The text's tokens.
        words: For each token the number of its pre-token.
        atoms: Ids of tokens that are no product of merges: added tokens, the unknown token and
            byte tokens.
        only: The one pre-token whose steps are written out; None writes them all.
    """
    numbered = zip(words, tokens, strict=True)
    groups = groupby(numbered, key=lambda pair: pair[0])
    return [
        _word_steps(table, [token for _, token in group], atoms, only in (None, number))
        for number, (_, group) in enumerate(groups)
    ]


def _word_steps(
    table: BpeTable, tokens: list[Token], atoms: Container[int | None], written: bool
) -> MergeSteps:
    """Write out the merges of one pre-token, from the tokens that it became."""
    # The symbols are read off the result: merging only ever joins, so the characters of the
    # tokens' pieces are what it began with.
    symbols: list[str] = []
    for token in tokens:
        symbols += [token.piece] if token.id in atoms else token.piece
    whole = len(tokens) == 1 and (tokens[0].id in atoms or table.words_first)
    capped = len(symbols) > MAX_SYMBOLS and not whole
    return MergeSteps(
        symbols=tuple(symbols),
        steps=tuple(table.steps(symbols)) if written and not (whole or capped) else (),
        pieces=tuple(token.piece for token in tokens),
        start=tokens[0].start,
        end=tokens[-1].end,
        whole=whole,
        capped=capped,
    )
