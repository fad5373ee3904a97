"""Horizontal bars, one per token: probabilities or logits, what a step cut, what was drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.arrays import Array
from components.kit.clicks import chosen_index
from components.kit.figure import frame, packed, share_format, token_labels
from components.kit.numbers import percent as in_percent
from components.kit.text import plotly as escape


def bars(
    token_ids: Sequence[int],
    pieces: Sequence[str | bytes],
    values: Sequence[float] | Array,
    *,
    title: str,
    key: str,
    kept: Sequence[bool] | Array | None = None,
    before: Sequence[float] | Array | None = None,
    cut_after: int | None = None,
    cut_label: str = "cut",
    selected: int | None = None,
    picked: int | None = None,
    percent: bool = True,
    high: float | None = None,
    value_name: str = "probability",
    height: int | None = None,
    legend: tuple[str, str] | None = None,
) -> go.Figure:
    """Return bars, the first on top, keyed by token id: equal texts stay apart.

    Args:
        token_ids: one per bar; a negative one stands for several tokens and is not written.
        pieces: text or bytes of each token, raw; made visible and escaped here.
        values: one per bar; shares in 0…1 if `percent`.
        title: what is seen.
        key: the chart's key.
        kept: False greys a bar: the step cut it.
        before: what the value was before the step, drawn as a thin outline.
        cut_after: draw a line after this many bars.
        cut_label: what stands at the line.
        selected: the id of the chosen token, framed.
        picked: the id of the token that was drawn, in the picked colour.
        percent: whether values are shares, written in percent.
        high: the right end of the axis; by default from the values.
        value_name: what a value is, in the hover text.
        height: in pixels; by default from the number of bars.
        legend: what the bars and what the outlines of `before` are; None draws no legend.
    """
    numbers = packed(values)
    count = len(numbers)
    if not len(token_ids) == len(pieces) == count:
        raise ValueError(f"{len(token_ids)} ids, {len(pieces)} pieces and {count} values.")
    keep = np.ones(count, dtype=bool) if kept is None else np.asarray(kept, dtype=bool)
    write = in_percent if percent else _decimal
    height = height or 70 + 26 * max(count, 3)
    figure = frame(title, height=height, revision=key, bargap=0.28, barmode="overlay")
    figure.add_trace(_values(token_ids, numbers, keep, selected, picked, write, value_name))
    if before is not None:
        figure.add_trace(_outline(packed(before)))
        figure.add_trace(_labels(figure.data[0], np.fmax(numbers, packed(before))))
    if legend is not None and before is not None:
        for trace, name in zip(figure.data, legend, strict=False):
            trace.update(name=escape(name), showlegend=True)
        figure.data[-1].showlegend = False
        figure.update_layout(
            showlegend=True, legend={"orientation": "h", "y": -0.2, "yanchor": "top"}
        )
    _axes(figure, token_ids, token_labels(pieces), _range(numbers, before, high, percent), percent)
    if cut_after is not None and 0 < cut_after < count:
        _cut_line(figure, cut_after, cut_label)
    return figure


def selected_token(event: Any, token_ids: Sequence[int]) -> int | None:
    """Return the id of the token whose bar was clicked, or None."""
    number = chosen_index(event, len(token_ids), curve=0)
    return None if number is None else token_ids[number]


def _decimal(value: float) -> str:
    return f"{value:.2f}"


def _values(
    token_ids: Sequence[int],
    numbers: Array,
    keep: Array,
    selected: int | None,
    picked: int | None,
    write: Callable[[float], str],
    value_name: str,
) -> go.Bar:
    fills, edges = [], []
    for token_id, kept in zip(token_ids, keep, strict=True):
        fill = theme.PICKED if token_id == picked else theme.ACCENT
        fills.append(fill if kept else theme.with_alpha(theme.CUT, 0.45))
        edges.append(theme.PICKED if token_id == selected else "rgba(0,0,0,0)")
    texts = [escape(write(float(value))) for value in numbers]
    return go.Bar(
        x=numbers,
        y=list(range(len(numbers))),
        orientation="h",
        marker={"color": fills, "line": {"color": edges, "width": 3}},
        text=texts,
        textposition="outside",
        cliponaxis=False,
        textfont={"size": 13, "color": theme.TEXT},
        customdata=list(token_ids),
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        hovertemplate=f"%{{y}}<br>{escape(value_name)} %{{text}}<extra></extra>",
    )


def _outline(values: Array) -> go.Bar:
    return go.Bar(
        x=values,
        y=list(range(len(values))),
        orientation="h",
        marker={"color": "rgba(0,0,0,0)", "line": {"color": theme.NEUTRAL, "width": 1}},
        hoverinfo="skip",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _labels(values: go.Bar, ends: Array) -> go.Bar:
    """Move the numbers of the bars behind whatever is longer, the bar or its outline."""
    texts = values.text
    values.update(text=None, hovertext=texts)
    values.hovertemplate = values.hovertemplate.replace("%{text}", "%{hovertext}")
    return go.Bar(
        x=ends,
        y=list(range(len(ends))),
        orientation="h",
        marker={"color": "rgba(0,0,0,0)"},
        text=texts,
        textposition="outside",
        cliponaxis=False,
        textfont={"size": 13, "color": theme.TEXT},
        hoverinfo="skip",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _range(
    numbers: Array, before: Sequence[float] | Array | None, high: float | None, percent: bool
) -> list[float]:
    seen = np.concatenate([numbers, packed([] if before is None else before), [0.0]])
    seen = seen[np.isfinite(seen)]
    top = float(seen.max()) if high is None else high
    bottom = min(float(seen.min()), 0.0)
    if percent:
        # Room for the number at the end of the longest bar.
        return [0.0, max(top, 1e-6) * 1.18]
    room = 0.18 * max(top - bottom, 1e-6)
    return [bottom - (room if bottom < 0 else 0.0), top + room]


def _axes(
    figure: go.Figure,
    token_ids: Sequence[int],
    labels: Sequence[str],
    span: list[float],
    percent: bool,
) -> None:
    count = len(token_ids)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(count)),
        ticktext=[
            f"{label} <span style='font-size:10px;opacity:0.6'>{token_id}</span>"
            if token_id >= 0
            else label
            for label, token_id in zip(labels, token_ids, strict=True)
        ],
        tickfont={"family": "monospace", "size": 14},
        range=[count - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        ticks="",
    )
    figure.update_xaxes(
        range=span,
        tickformat=share_format(0 if span[1] > 0.05 else 2) if percent else None,
        showgrid=True,
        zeroline=not percent,
        fixedrange=True,
        nticks=6,
    )


def _cut_line(figure: go.Figure, after: int, label: str) -> None:
    figure.add_shape(
        type="line",
        x0=0,
        x1=1,
        xref="paper",
        y0=after - 0.5,
        y1=after - 0.5,
        line={"color": theme.NEGATIVE, "width": 2, "dash": "dash"},
    )
    figure.add_annotation(
        x=1,
        xref="paper",
        y=after - 0.5,
        yanchor="top",
        xanchor="right",
        text=escape(label),
        showarrow=False,
        font={"color": theme.NEGATIVE, "size": 13},
    )
