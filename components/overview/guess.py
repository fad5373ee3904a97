"""The line over the picture: what to press, and afterwards where the guess and the token stood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.numbers import percent
from components.kit.text import counted, shorten, visible

if TYPE_CHECKING:
    from engine.lm_head.standing import Standing

INVITATION = (
    "Which word do you expect? “Next token” adds one piece of text. New here? Take the ten guesses."
)


def outcome(token: Standing, guess: Standing | None, typed: str) -> str:
    """Say, as plain text, which token came and where it and the guess stood in the model's list.

    Args:
        token: the token that was drawn.
        guess: the first token of the guess; None without one.
        typed: the guess as it was typed.
    """
    came = f"{_name(token)} came: number {token.rank:,}, {percent(token.probability)}."
    if guess is None:
        return f"{came} Which word do you expect next?"
    if guess.pieces > 1:
        said = (
            f"“{shorten(visible(typed), 24)}” takes {counted(guess.pieces, 'token')}; its first, "
            f"{_name(guess)}, was {_place(guess)}"
        )
    else:
        said = f"Your guess {_name(guess)} was {_place(guess)}"
    if guess.token_id != token.token_id:
        return f"{said}. {came}"
    return f"{said}, and it came." if guess.pieces == 1 else f"{said}, and that first one came."


def _place(standing: Standing) -> str:
    return f"number {standing.rank:,} of {standing.of:,}, {percent(standing.probability)}"


def _name(standing: Standing) -> str:
    return visible(standing.data, limit=20)
