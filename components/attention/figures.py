"""What one head reads, and all heads at once: figures and the words that go with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from components.kit.arrays import Array
from components.kit.bars import bars
from components.kit.figure import share_format, token_labels
from components.kit.heatmap import heatmap
from components.kit.mosaic import mosaic
from components.kit.numbers import percent

LOG_FLOOR = 1e-4
"""The smallest share that the log scale tells from nothing."""


@dataclass(frozen=True)
class Kind:
    """A known kind of reader, and from which share on a head counts as one."""

    key: str
    name: str
    does: str
    """What such a head does, to follow the head's name in a title."""
    definition: str
    wish: str
    """How the button that finds one ends “Find a head that …”."""
    threshold: float


KINDS: tuple[Kind, ...] = (
    Kind(
        "induction",
        "Induction",
        "reads what followed the same token before",
        "the tokens that came right after earlier occurrences of the token that reads",
        "copies (looks at what came after the same word earlier)",
        0.4,
    ),
    Kind(
        "previous",
        "Previous token",
        "looks one token back",
        "the token just before",
        "looks one word back",
        0.4,
    ),
    Kind(
        "same",
        "Same token",
        "reads earlier copies of the same token",
        "earlier occurrences of the token that reads",
        "looks at the same word earlier",
        0.4,
    ),
    Kind(
        "first",
        "First token",
        "rests on the first token",
        "the first token (attention sink)",
        "rests on the first token",
        0.7,
    ),
)


def kind_of(shares: Mapping[str, float]) -> Kind | None:
    """Return the first kind, in the order of `KINDS`, whose threshold a head's share reaches."""
    return next((kind for kind in KINDS if shares[kind.key] >= kind.threshold), None)


def head_title(layer: int, head: int, shares: Mapping[str, float]) -> str:
    """Say what a head does on this prompt, from its shares."""
    kind = kind_of(shares)
    if kind is None:
        best = max(KINDS, key=lambda kind: shares[kind.key])
        return (
            f"Head {head} of layer {layer} spreads its attention: "
            f"{percent(shares[best.key])} of it on {best.definition}"
        )
    return f"Head {head} of layer {layer} {kind.does}: {percent(shares[kind.key])} of its attention"


def shown_pattern(pattern: Array, visible: Array, *, without_first: bool) -> Array:
    """Return a pattern `[T, S]` with NaN where there is nothing to draw.

    Args:
        pattern: shares of attention.
        visible: True where a query may read a key.
        without_first: the first token is left out, so neither its column nor the first row is left.
    """
    shown = np.where(visible, pattern, np.nan).astype(np.float32)
    if without_first:
        shown[:, 0] = np.nan
    return shown


def pattern_figure(
    shown: Array,
    pieces: Sequence[bytes],
    *,
    title: str,
    key: str,
    selected: tuple[int, int] | None,
    log: bool,
) -> go.Figure:
    """Draw one head's pattern, on a linear or a log scale.

    Args:
        shown: from `shown_pattern`.
        pieces: the tokens' bytes.
        title: what is seen.
        key: the chart's key.
        selected: the chosen (query, key).
        log: whether colour goes by the order of magnitude.
    """
    labels = token_labels(pieces)
    decades = -np.log10(LOG_FLOOR)
    values = np.log10(np.maximum(shown, LOG_FLOOR)) + decades if log else shown
    figure = heatmap(
        values,
        labels,
        labels,
        title=title,
        key=key,
        low=0.0,
        high=float(decades) if log else 1.0,
        row_name="token",
        col_name="reads",
        value_name="share",
        selected=selected,
        height=int(np.clip(150 + 26 * len(labels), 300, 560)),
    )
    bar, cells = figure.data[0].colorbar, figure.data[1]
    if log:
        bar.update(
            tickvals=np.linspace(0, figure.data[0].zmax, 5).tolist(),
            ticktext=["≤ 0.01 %", "0.1 %", "1 %", "10 %", "100 %"],
        )
        if cells.customdata is not None:
            cells.update(customdata=shown[np.isfinite(shown)])
    else:
        bar.update(tickformat=share_format())
    if cells.customdata is not None:
        share = f"%{{customdata:{share_format(2)}}}"
        cells.update(hovertemplate=f"%{{y}} reads %{{x}}: {share}<extra></extra>")
    return figure


def reading_figure(
    row: Array, pieces: Sequence[bytes], *, title: str, key: str, read: int | None, most: int = 7
) -> go.Figure:
    """Draw which tokens one token reads most, as bars keyed by place, which counts from 1.

    Args:
        row: `[S]`, shares; NaN where there is nothing to read.
        pieces: the tokens' bytes.
        title: what is seen.
        key: the chart's key.
        read: the chosen key, framed.
        most: how many bars.
    """
    order = strongest(row, most)
    return bars(
        [position + 1 for position in order],
        [pieces[position] for position in order],
        [float(row[position]) for position in order],
        title=title,
        key=key,
        selected=None if read is None else read + 1,
        high=1.0,
        value_name="share of attention",
    )


def strongest(row: Array, most: int) -> list[int]:
    """Return the positions with the largest shares, largest first; none that can't be read."""
    known = np.nan_to_num(row, nan=-1.0)
    order = np.argsort(-known, kind="stable")[:most]
    return [int(position) for position in order if known[position] >= 0]


def mosaic_figure(
    maps: Array, *, title: str, key: str, selected: tuple[int, int], log: bool, high: float = 0.6
) -> go.Figure:
    """Draw all heads' small patterns: a column per layer, a row per head.

    Args:
        maps: `[L, H, n, n]`, 0 to 255.
        title: what is seen.
        key: the chart's key.
        selected: the chosen (layer, head).
        log: whether colour goes by the order of magnitude, from 1 % on.
        high: the share at which colour is strongest.
    """
    layers, heads = maps.shape[:2]
    across = "layers" if layers > heads else "heads"
    shares = maps / np.float32(255)
    if log:
        shares, high = np.log10(np.maximum(shares, 0.01)) + 2, 2.0
    return mosaic(shares, title=title, key=key, selected=selected, across=across, high=high)
