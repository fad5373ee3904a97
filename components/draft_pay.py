"""When speculative decoding pays: measured and predicted speed-up for each number of guesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from components import theme
from components.lines import lines
from components.numbers import percent

if TYPE_CHECKING:
    from engine.draft_costs import Pay
    from engine.draft_law import LawCheck


def speed_lines(found: Sequence[Pay], *, key: str) -> go.Figure:
    """Return the speed-up against k, with a line at 1: plain decoding."""
    best = max(found, key=lambda row: row.speed_up)
    title = f"Best with k = {best.k}: {best.speed_up:.2f} × plain decoding"
    figure = lines(
        {
            "measured": [row.speed_up for row in found],
            "by the formula": [row.predicted for row in found],
        },
        title=title,
        key=key,
        x_title="k, guesses a round",
        y_title="speed-up",
        positions=[row.k for row in found],
    )
    figure.add_hline(y=1, line={"color": theme.NEUTRAL, "width": 2, "dash": "dot"})
    figure.update_xaxes(dtick=1)
    figure.update_yaxes(rangemode="tozero")
    return figure


def table(found: Sequence[Pay]) -> list[dict[str, float | int]]:
    """Return one row a k, numbers with the digits that matter."""
    return [
        {
            "k": row.k,
            "accepted": round(row.acceptance, 2),
            "tokens a pass": round(row.tokens_a_pass, 2),
            "cost of a guess": round(row.draft_cost, 2),
            "cost of a check": round(row.check_cost, 2),
            "speed-up": round(row.speed_up, 2),
            "by the formula": round(row.predicted, 2),
        }
        for row in found
    ]


def verdict(found: Sequence[Pay]) -> str:
    """Say in Markdown whether it pays here."""
    best = max(found, key=lambda row: row.speed_up)
    if best.speed_up < 1:
        return (
            f"**It does not pay here:** even the best k = {best.k} takes "
            f"{1 / best.speed_up:.2f} × as long as plain decoding. Only "
            f"{percent(best.acceptance)} of the guesses are accepted, and each costs "
            f"{best.draft_cost:.2f} of a plain step."
        )
    slower = [str(row.k) for row in found if row.speed_up < 1]
    rest = f" With k = {', '.join(slower)} it is slower than plain decoding." if slower else ""
    return (
        f"**It pays here:** with k = {best.k} it is {best.speed_up:.2f} × as fast as plain "
        f"decoding, since {percent(best.acceptance)} of the guesses are accepted.{rest}"
    )


def law_words(found: LawCheck) -> str:
    """Say in Markdown how close many rounds come to the law."""
    counts = ", ".join(f"{count / found.rounds:.3f}" for count in found.counts)
    law = ", ".join(f"{share:.3f}" for share in found.expected)
    rest = ", ".join(f"{share:g}" for share in found.residual)
    return (
        f"{found.rounds:,} rounds: shares {counts} where p is {law}. Accepted {found.accepted:.3f} "
        f"(the sum of min(p, q) is {found.acceptance:.3f}); the residual is {rest}. Total "
        f"variation {found.total_variation:.4f}; a chi-square test gives p = {found.p_value:.2f} "
        "(a wrong law would give nearly 0)."
    )
