"""Where a guess stands in the model's own list of next tokens.

A person types the word that they expect. The vocabulary holds most words twice, with a leading
space and without one, and rare words only in pieces. So the guess is cut into tokens both ways, and
the way whose first token the model finds more probable counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.basics.distribution import rank_of, softmax
from engine.basics.errors import EngineError, check_index
from engine.basics.results import Result

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.tokenizer.tokenizer import Tokenizer

LONGEST_GUESS = 40
"""Most characters of a guess."""


@dataclass(frozen=True)
class Standing(Result):
    """One token's place in the list of all tokens, the most probable first."""

    token_id: int
    data: bytes
    """The token's bytes, the leading space included."""
    rank: int
    """1 for the most probable token."""
    of: int
    """V, how many tokens there are."""
    probability: float
    """The model's own, before any setting of the sampling."""
    pieces: int
    """How many tokens the whole guess takes; this is the first of them."""


def standing(tokenizer: Tokenizer, logits: Array, token_id: int, pieces: int = 1) -> Standing:
    """Return where one token stands.

    Args:
        tokenizer: The model's.
        logits: `[V]`, the scores after the text so far.
        token_id: The token.
        pieces: How many tokens the guess takes that it begins.

    Raises:
        EngineError: There is no such token.
    """
    token_id = check_index("token id", token_id, len(logits))
    return Standing(
        token_id=token_id,
        data=tokenizer.bytes_of(token_id),
        rank=rank_of(logits, token_id),
        of=len(logits),
        probability=float(softmax(logits)[token_id]),
        pieces=pieces,
    )


def guess_standing(tokenizer: Tokenizer, logits: Array, guess: str) -> Standing | None:
    """Return where a guess stands, or None if nothing was guessed.

    Args:
        tokenizer: The model's.
        logits: `[V]`, the scores after the text so far.
        guess: What was typed, taken literally: the name of a control token is text. Blanks around
            it do not count.

    Raises:
        EngineError: The guess is too long.
    """
    if len(guess) > LONGEST_GUESS:
        raise EngineError(
            f"The guess has {len(guess)} characters; at most {LONGEST_GUESS} are taken: one word "
            "is enough."
        )
    word = guess.strip()
    if not word:
        return None
    readings = [tokenizer.after("", spelled) for spelled in (f" {word}", word)]
    found = [standing(tokenizer, logits, cut[0].id, len(cut)) for cut in readings if cut]
    return min(found, key=lambda one: (one.rank, one.pieces), default=None)
