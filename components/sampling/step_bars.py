"""One step of the sampling chain as a card's picture: its formula, its rows of bars, its facts.

A vocabulary has tens of thousands of tokens and a card has room for eight rows: the likeliest, and
those around the cut. What lies between them is counted and written, never dropped silently. Small
and plain on purpose: nine of these are drawn anew at each move of a slider.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from components.kit import theme
from components.kit.arrays import Array
from components.kit.browser import component
from components.kit.numbers import percent
from engine.basics.distribution import largest
from engine.sampling.chain import Stage

CUTTING = frozenset({"top_k", "top_p", "min_p", "typical"})
HITTING = frozenset({"repetition_penalty", "count_penalties", "logit_bias"})
ROWS = 8


@dataclass(frozen=True)
class Row:
    """One line of a card: a token, a gap that counts what is left out, or the cut-off."""

    kind: str
    """"token", "gap" or "cut"."""
    text: str
    """What stands at the right: the probability after the step, or the gap's or the cut's words."""
    label: str = ""
    """The token, made visible."""
    token_id: int = -1
    before: float = 0.0
    after: float = 0.0
    kept: bool = True
    picked: bool = False
    hover: str = ""

    def message(self) -> dict[str, Any]:
        """Return the row as plain values for the browser."""
        return {name: value for name, value in vars(self).items() if name != "token_id"}


def step_rows(
    stage: Stage, name_of: Callable[[int], str], *, picked: int | None = None
) -> list[Row]:
    """Return the rows of one step's card.

    Args:
        stage: from `run_chain`.
        name_of: gives a token's visible text.
        picked: the token that is drawn in the end.
    """
    ids = drawn_ids(stage)
    rows: list[Row] = []
    last = -1
    for position, token_id in enumerate(ids):
        between = _count_between(stage, ids[position - 1] if position else None, token_id)
        if between:
            rows.append(Row("gap", f"… {between:,} more"))
        kept = bool(stage.kept[token_id])
        if last >= 0 and stage.name in CUTTING and stage.active and kept != bool(stage.kept[last]):
            rows.append(Row("cut", cut_text(stage)))
        rows.append(_token_row(stage, token_id, name_of(token_id), token_id == picked))
        last = token_id
    if stage.name not in HITTING:
        rows += _rest(stage, last)
    return rows


def drawn_ids(stage: Stage) -> list[int]:
    """Return the tokens that a card shows, the likeliest before the step first."""
    before = stage.probabilities_before
    if stage.name in HITTING and stage.active:
        hit = np.flatnonzero(stage.logits != stage.logits_before)
        if len(hit):
            weight = np.maximum(before[hit], stage.probabilities[hit])
            chosen = hit[largest(weight, ROWS)]
            return _ordered(before, chosen)
    cut = (before > 0) & ~stage.kept
    if stage.name not in CUTTING or not stage.active or not cut.any():
        return _ordered(before, largest(before, ROWS))
    kept_ids = np.flatnonzero(stage.kept)
    cut_ids = np.flatnonzero(cut)
    first = kept_ids[largest(before[kept_ids], 4)]
    edge = kept_ids[largest(-before[kept_ids], 2)]
    gone = cut_ids[largest(before[cut_ids], 2)]
    return _ordered(before, np.unique(np.concatenate([first, edge, gone])))


def cut_text(stage: Stage) -> str:
    """Say what a token needed to stay."""
    if stage.cutoff is None:
        return "cut"
    if stage.name == "top_k":
        return f"cut below the logit {stage.cutoff:.2f}"
    if stage.name == "typical":
        return f"cut beyond {stage.cutoff:.2f} bits from usual"
    return f"cut below {percent(stage.cutoff)}"


def _ordered(before: Array, ids: Array) -> list[int]:
    """Return the ids, likeliest first, without what an earlier step removed."""
    alive = [int(i) for i in ids if before[i] > 0]
    return sorted(alive, key=lambda i: (-before[i], i))


def _count_between(stage: Stage, above: int | None, below: int) -> int:
    """Count the tokens whose probability lies between two neighbours of a card."""
    before = stage.probabilities_before
    if above is None or stage.name in HITTING:
        return 0
    inside = (before < before[above]) & (before > before[below])
    return int(np.count_nonzero(inside))


def _rest(stage: Stage, last: int) -> list[Row]:
    """Count what is less likely than the last token of a card."""
    before = stage.probabilities_before
    below = (before > 0) & (before < before[last])
    count = int(np.count_nonzero(below))
    if not count:
        return []
    if (below & stage.kept).any():
        mass = float(stage.probabilities[below].sum(dtype=np.float64))
        return [Row("gap", f"… {count:,} more: {percent(mass)}")]
    mass = float(before[below].sum(dtype=np.float64))
    return [Row("gap", f"… {count:,} more cut: {percent(mass)}")]


def _token_row(stage: Stage, token_id: int, label: str, picked: bool) -> Row:
    before, after = stage.probabilities_before[token_id], stage.probabilities[token_id]
    kept = bool(stage.kept[token_id])
    was, now = stage.logits_before[token_id], stage.logits[token_id]
    change = f"logit {was:.2f} → {now:.2f}" if kept else f"logit {was:.2f}, cut"
    hover = f"{label}  id {token_id}\n{percent(float(before))} → {percent(float(after))}\n{change}"
    text = percent(float(after)) if kept else "cut"
    return Row("token", text, label, token_id, float(before), float(after), kept, picked, hover)


COLOURS: Mapping[str, str] = {
    "ACCENT_NEUTRAL": theme.NEUTRAL,
    "ACCENT_KEPT": theme.ACCENT,
    "ACCENT_CUT": theme.CUT,
    "ACCENT_PICKED": theme.PICKED,
    "ACCENT_NEGATIVE": theme.NEGATIVE,
}
"""Words of the style sheets of the sampling pictures, and what each stands for."""

_COMPONENT = component("sampling/step_bars", '<div class="bars"></div>', colours=COLOURS)


def step_bars(data: Mapping[str, Any], *, key: str) -> None:
    """Draw one step.

    Args:
        data: from `payload`.
        key: unique on the page.
    """
    _COMPONENT(key=key, data=dict(data))


def payload(
    rows: Sequence[Row],
    *,
    formula: str,
    facts: str,
    note: str,
    active: bool,
    alt: str,
    title: str = "",
) -> dict[str, Any]:
    """Return what the browser needs.

    Args:
        rows: from `step_rows`.
        formula: one line, plain text.
        facts: what the step did, in numbers; line breaks stay.
        note: what else is worth saying.
        active: whether the step is on; else it is drawn pale.
        alt: what the bars show, for screen readers.
        title: what is seen; with one the bars are a picture of their own, larger, with a legend.
    """
    sizes = [max(row.before, row.after) for row in rows if row.kind == "token"]
    return {
        "rows": [row.message() for row in rows],
        "scale": max(sizes, default=0.0) or 1.0,
        "formula": formula,
        "facts": facts,
        "note": note,
        "active": active,
        "alt": alt,
        "title": title,
    }
