"""When speculative decoding pays: measured and predicted speed-up for each number of guesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.bars import bars
from components.kit.lines import lines
from components.kit.numbers import percent
from components.kit.text import markdown
from engine.speculative.drafts import DraftKind

if TYPE_CHECKING:
    from engine.speculative.law import TextLaw
    from engine.speculative.race import Pay

MOST_TEXTS = 12

Measured = Mapping[str, Sequence["Pay"]]
"""For each draft, by name, what was measured for k = 1, 2, …"""


def speed_lines(found: Measured, *, key: str) -> go.Figure:
    """Return the speed-up against k, one colour per draft, a line at 1 for plain decoding."""
    name, best = _best(found)
    most = max(row.k for rows in found.values() for row in rows)
    series = {}
    for draft, rows in found.items():
        # A race that was stopped, or over in one round, says nothing about its k.
        measured, predicted = np.full((2, most), np.nan)
        for row in rows:
            measured[row.k - 1], predicted[row.k - 1] = row.speed_up, row.predicted
        series[draft] = measured
        series[f"{draft}, by the formula"] = predicted
    figure = lines(
        series,
        title=f"{name} with k = {best.k}: {best.speed_up:.2f} × plain decoding",
        key=key,
        x_title="k, guesses per round (dotted: by the formula)",
        y_title="speed-up",
        positions=range(1, most + 1),
    )
    for number, trace in enumerate(figure.data):
        colour = theme.CATEGORICAL[number // 2 % len(theme.CATEGORICAL)]
        formula = number % 2 == 1
        trace.update(
            line={"color": colour, "width": 1.5 if formula else 2.5},
            line_dash="dot" if formula else "solid",
            mode="lines" if formula else "lines+markers",
            marker={"color": colour},
            showlegend=not formula,
        )
    figure.add_hline(y=1, line={"color": theme.NEUTRAL, "width": 2, "dash": "dash"})
    figure.update_xaxes(dtick=1)
    figure.update_yaxes(rangemode="tozero")
    return figure


def table(found: Measured) -> list[dict[str, float | int | str]]:
    """Return one row per draft and k, numbers with the digits that matter."""
    return [
        {
            "draft": draft,
            "k": row.k,
            "accepted": round(row.acceptance, 2),
            "tokens per pass": round(row.tokens_a_pass, 2),
            "cost of a guess": round(row.draft_cost, 2),
            "cost of a check": round(row.check_cost, 2),
            "speed-up": round(row.speed_up, 2),
            "by the formula": round(row.predicted, 2),
        }
        for draft, rows in found.items()
        for row in rows
    ]


def verdict(found: Measured) -> str:
    """Say in Markdown which draft pays here, and which does not."""
    name, best = _best(found)
    numbers = (
        f"{percent(best.acceptance)} of the guesses are accepted, and each costs "
        f"{best.draft_cost:.2f} of a plain step."
    )
    if best.speed_up < 1:
        return (
            f"**It does not pay here:** even the best, {_named(name)} with k = {best.k}, takes "
            f"{1 / best.speed_up:.2f} × as long as plain decoding: {numbers}"
        )
    slow = [_named(draft) for draft, rows in found.items() if max(r.speed_up for r in rows) < 1]
    losers = f" With no k does it pay for {' and '.join(slow)}." if slow else ""
    slower = [str(row.k) for row in found[name] if row.speed_up < 1]
    rest = f" With k = {', '.join(slower)} it is slower than plain decoding." if slower else ""
    return (
        f"**It pays here:** {_named(name)} with k = {best.k} is {best.speed_up:.2f} × as fast as "
        f"plain decoding: {numbers}{rest}{losers}"
    )


def _best(found: Measured) -> tuple[str, Pay]:
    """Return the fastest of all, with its draft's name."""
    every = [(draft, row) for draft, rows in found.items() for row in rows]
    return max(every, key=lambda pair: pair[1].speed_up)


def _named(draft: str) -> str:
    """Return a draft's name inside a sentence: another model's keeps its capitals."""
    ours = draft.split(",")[0] in tuple(DraftKind)
    return markdown(draft[0].lower() + draft[1:] if ours else draft)


def texts_words(found: TextLaw) -> str:
    """Say in Markdown how close the texts of many runs come to the law."""
    return (
        f"{found.runs} runs, {len(found.expected)} texts that can come. Taken together, "
        f"{percent(found.total_variation)} of the runs would have to be moved to meet the exact "
        f"probabilities; with as many runs without a draft it would be "
        f"{percent(found.by_chance)} on average. (Statistics: a difference like this or a larger "
        f"one comes up by chance in {percent(found.p_value)} of such experiments; if the draft "
        "changed the probabilities, it would be nearly none.)"
    )


def text_bars(found: TextLaw, data_of: Callable[[int], bytes], *, key: str) -> go.Figure:
    """Return the share of each of the likeliest texts, its exact probability as an outline.

    Args:
        found: what was counted.
        data_of: bytes of an id.
        key: the chart's key.
    """
    texts = sorted(found.expected, key=lambda text: -found.expected[text])[:MOST_TEXTS]
    return bars(
        range(len(texts)),
        [b"".join(data_of(token) for token in text) for text in texts],
        [found.counts.get(text, 0) / found.runs for text in texts],
        title="Share of each text; the outline is its probability without a draft",
        key=key,
        before=[found.expected[text] for text in texts],
        value_name="share of the runs",
    )
