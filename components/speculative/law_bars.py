"""Why a draft changes no probability, as a picture: what is kept and what is redrawn make p.

For each word: the draft's own share q, then what is kept of it, min(p, q), with what is drawn in
place of the rejected guesses on top. Both together reach p, whatever the draft is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.figure import frame, packed, share_format
from components.kit.numbers import percent
from components.kit.text import plotly as escape

if TYPE_CHECKING:
    from engine.speculative.law import LawCheck

WORDS = ("tea", "coffee", "milk")
"""The three words of the made-up example."""
MODEL = (0.6, 0.3, 0.1)
"""What the model gives them."""
DRAFTS: Mapping[str, Sequence[float]] = {
    "a draft far off": (0.2, 0.5, 0.3),
    "a draft nearly right": (0.5, 0.35, 0.15),
    "always coffee": (0.0, 1.0, 0.0),
}
"""What different drafts give them."""
ROUNDS = 20_000
"""How many rounds are counted."""

KEPT, REDRAWN = theme.CATEGORICAL[2], theme.PICKED


def law_bars(found: LawCheck, draft: Sequence[float], *, key: str) -> go.Figure:
    """Return the picture.

    Args:
        found: what was counted, with the law itself.
        draft: the draft's share of each word.
        key: the chart's key.
    """
    p, q = np.round(found.expected, 4), np.asarray(draft)  # float32 has 0.09999999
    kept = np.minimum(p, q)
    redrawn = p - kept
    title = (
        f"Kept {percent(float(kept.sum()))} + redrawn {percent(float(redrawn.sum()))}: every word "
        "is as likely as without the draft"
    )
    figure = frame(title, height=360, revision=key, barmode="overlay")
    places = np.arange(len(WORDS), dtype=np.float32)
    rows = (
        ("the draft guesses it", q, None, theme.CUT, -0.42),
        ("guess kept: min(p, q)", kept, None, KEPT, -0.04),
        ("redrawn after a rejection", redrawn, kept, REDRAWN, -0.04),
    )
    for name, values, base, colour, offset in rows:
        figure.add_trace(
            go.Bar(
                x=places,
                y=packed(values),
                base=None if base is None else packed(base),
                offset=offset,
                width=0.36,
                name=name,
                marker={"color": colour},
                text=[percent(float(value)) if value > 0.005 else "" for value in values],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                customdata=[percent(float(value)) for value in values],
                hovertemplate=f"{name}: %{{customdata}}<extra></extra>",
            )
        )
    figure.add_trace(_model(places, p))
    figure.add_trace(_counted(places, found))
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.12, "yanchor": "top"})
    figure.update_xaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[escape(f"“{word}”") for word in WORDS],
        range=[-0.6, len(WORDS) - 0.4],
        showgrid=False,
        zeroline=False,
    )
    top = max(float(p.max()), float(q.max()))
    figure.update_yaxes(tickformat=share_format(), range=[0, top * 1.08])
    return figure


def _model(places: np.ndarray, p: np.ndarray) -> go.Bar:
    """Return p as an outline around what is kept and redrawn."""
    return go.Bar(
        x=places,
        y=packed(p),
        offset=-0.06,
        width=0.40,
        name="the model alone: p",
        marker={"color": "rgba(0,0,0,0)", "line": {"color": theme.TEXT, "width": 2}},
        hoverinfo="skip",
    )


def _counted(places: np.ndarray, found: LawCheck) -> go.Scatter:
    """Return the counted shares as marks."""
    shares = [count / found.rounds for count in found.counts]
    return go.Scatter(
        x=places + np.float32(0.42),
        y=packed(shares),
        mode="markers",
        name=f"counted in {found.rounds:,} rounds",
        marker={"symbol": "diamond", "size": 11, "color": theme.ACCENT},
        customdata=[percent(share) for share in shares],
        hovertemplate="counted: %{customdata}<extra></extra>",
    )


def law_words(found: LawCheck) -> str:
    """Say in Markdown how close many rounds come to the law."""
    shares = [f"{100 * count / found.rounds:.1f}" for count in found.counts]
    law = [f"{100 * share:g}" for share in np.round(found.expected, 4)]
    return (
        f"In {found.rounds:,} rounds the three words came {_list(shares)} % of the time. The model "
        f"alone would give {_list(law)}: the draft changed nothing but the speed. It was accepted "
        f"in {percent(found.accepted)} of the rounds. (Statistics: a difference like this or a "
        f"larger one comes up by chance in {percent(found.p_value)} of such experiments.)"
    )


def _list(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
