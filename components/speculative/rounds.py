"""Rounds of speculative decoding: each guess with its fate, and what replaced a rejected one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from components.kit import theme
from components.kit.bars import bars
from components.kit.numbers import percent
from components.kit.text import html, markdown, visible

if TYPE_CHECKING:
    from engine.speculative.rounds import CheckedToken, DraftRound

FATES: Mapping[str, tuple[str, str]] = {
    "accepted": ("A", theme.CATEGORICAL[2]),
    "rejected": ("R", theme.CATEGORICAL[5]),
    "not checked": ("–", theme.CUT),
    "redrawn": ("D", theme.PICKED),
    "bonus": ("B", theme.ACCENT),
    "drawn": ("P", theme.NEUTRAL),
}
"""The letter and the colour of each fate."""

MEANINGS: Mapping[str, str] = {
    "accepted": "accepted",
    "rejected": "rejected",
    "not checked": "after a rejection, not looked at",
    "redrawn": "drawn by the model in its place",
    "bonus": "all were accepted: the model adds one of its own",
    "drawn": "nothing was guessed: a plain step",
}


def rounds_html(rounds: Sequence[DraftRound], *, selected: int | None = None) -> str:
    """Return the rounds as HTML, one row each, the chosen one marked."""
    rows = "".join(_row(part, part.index == selected) for part in rounds)
    return (
        '<div style="font-size:.95rem;max-height:26rem;overflow-y:auto" '
        f'aria-label="Rounds of guesses and checks">{rows}</div>'
    )


def _row(part: DraftRound, selected: bool) -> str:
    chips = "".join(_chip(token, token.fate) for token in part.proposed)
    if part.last is not None and part.source is not None:
        chips += _chip(part.last, part.source)
    mark = f"border-left:4px solid {theme.PICKED if selected else 'transparent'}"
    return (
        f'<div style="{mark};padding:2px 0 2px 8px;display:flex;flex-wrap:wrap;gap:4px">'
        f'<span style="min-width:4.2rem;opacity:.7">round {part.index + 1}</span>{chips}</div>'
    )


def _chip(token: CheckedToken, fate: str) -> str:
    letter, colour = FATES[fate]
    crossed = "text-decoration:line-through;" if fate in ("rejected", "not checked") else ""
    faint = "opacity:.55;" if fate == "not checked" else ""
    piece = html(visible(token.data, limit=18))
    return (
        f'<span style="background:{theme.with_alpha(colour, 0.25)};border-bottom:3px solid '
        f'{colour};border-radius:5px;padding:1px 6px;{faint}" title="{html(told(token, fate))}">'
        f'<b style="font-size:.75rem">{letter}</b> '
        f'<span style="font-family:monospace;{crossed}">{piece}</span></span>'
    )


def told(token: CheckedToken, fate: str) -> str:
    """Return the numbers of a token in plain text."""
    if fate in ("redrawn", "bonus", "drawn"):
        return f"{MEANINGS[fate]}; drawn with probability {percent(token.p)}, u = {token.u:.3f}"
    numbers = f"p = {percent(token.p)}, q = {percent(token.q)}"
    if token.u is None:
        return f"{MEANINGS[fate]}; {numbers}"
    sign = "<" if fate == "accepted" else "≥"
    return f"{fate}: {numbers}, u = {token.u:.3f} {sign} p/q = {token.p / token.q:.3f}"


def legend() -> str:
    """Return what letters and colours mean, as HTML."""
    cells = "".join(
        f'<span style="background:{theme.with_alpha(colour, 0.25)};border-bottom:3px solid '
        f'{colour};border-radius:5px;padding:0 6px;margin-right:8px;white-space:nowrap">'
        f"<b>{letter}</b> {html(MEANINGS[fate])}</span>"
        for fate, (letter, colour) in FATES.items()
    )
    return f'<div style="font-size:.8rem;display:flex;flex-wrap:wrap;gap:6px 0">{cells}</div>'


def round_words(part: DraftRound) -> str:
    """Return the checks of one round as a Markdown list."""
    lines = [f"- {markdown(visible(t.data))}: {markdown(told(t, t.fate))}" for t in part.proposed]
    if part.last is not None and part.source is not None:
        text = markdown(told(part.last, part.source))
        lines.append(f"- {markdown(visible(part.last.data))}: {text}")
    if not part.proposed:
        lines.insert(0, "- Nothing was guessed, so this is a plain step.")
    return "\n".join(lines)


def same_words(*, same: bool, greedy: bool, parts_at: int | None = None) -> str:
    """Return one sentence of Markdown on the two texts of a race.

    Args:
        same: whether they are equal.
        greedy: whether the temperature is 0.
        parts_at: the first token at which they differ; None if one is the beginning of the other.
    """
    if greedy and same:
        return "Greedy: **both texts are the same**, token for token."
    if greedy and parts_at is not None:
        return (
            f"Greedy, and yet **the texts part at token {parts_at}**: two tokens are all but tied "
            "there, and a pass over several tokens rounds differently from a pass over one."
        )
    if greedy:
        return "The race was stopped before both texts were complete."
    return (
        "Two draws from the same probabilities: the texts may differ, since a run with a draft "
        "uses up the random numbers otherwise. At temperature 0 they are equal."
    )


def residual_bars(part: DraftRound, data_of: Callable[[int], bytes], *, key: str) -> go.Figure:
    """Return what a rejected guess was redrawn from: max(p - q, 0), normalised.

    Args:
        part: a round with a rejection.
        data_of: bytes of an id.
        key: the chart's key.
    """
    rejected = next(token for token in part.proposed if token.fate == "rejected")
    ids = [row.id for row in part.residual]
    return bars(
        ids,
        [data_of(token_id) for token_id in ids],
        [row.probability for row in part.residual],
        title=f"Instead of {visible(rejected.data, limit=14)}: p beyond q",
        key=key,
        before=[row.p for row in part.residual],
        kept=[row.probability > 0 for row in part.residual],
        picked=None if part.last is None else part.last.id,
        value_name="residual (outline: p)",
    )
