"""Which head matters: what each one's removal changes, and how much each looks at a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from components.kit import theme
from components.kit.arrays import Array
from components.kit.clicks import chosen_index
from components.kit.figure import frame, packed, share_format
from components.kit.heatmap import heatmap, selected_cell
from components.kit.numbers import percent
from components.kit.text import plotly as escape

if TYPE_CHECKING:
    from engine.interpret.looking import Looking

MUCH, LITTLE = 0.5, 0.1
"""Shares of attention that count as looking much and looking little."""


def sweep_figure(probabilities: Array, plain: float, name: str, *, key: str) -> go.Figure:
    """Draw each head's effect on one token's probability: heads by layers.

    Args:
        probabilities: `[L, H]` without that head; NaN where it is not known yet.
        plain: the token's probability with all heads.
        name: the token, visible.
        key: the chart's key.
    """
    change = sweep_change(probabilities, plain).T
    limit = max(0.05, float(np.nanmax(np.abs(change), initial=0.0)))
    heads, layers = change.shape
    known = np.isfinite(probabilities)
    title = f"Without one head: how {name} changes from {percent(plain)}, in bits"
    if known.any():
        worst = np.unravel_index(np.nanargmin(np.where(known, probabilities, np.nan)), known.shape)
        title = (
            f"Without head {worst[1]} of layer {worst[0]}, {name} falls most: "
            f"{percent(plain)} → {percent(probabilities[worst])}"
        )
    figure = heatmap(
        change,
        [str(head) for head in range(heads)],
        [str(layer) for layer in range(layers)],
        title=title,
        key=key,
        low=-limit,
        high=limit,
        row_name="head",
        col_name="layer",
        value_name="bits",
        number_format="+.2f",
        height=int(np.clip(110 + 26 * heads, 260, 520)),
    )
    figure.update_yaxes(title="head")
    figure.update_xaxes(title="layer", tickangle=0)
    figure.data[0].colorbar.update(title={"text": "bits", "font": {"color": theme.TEXT}})
    return figure


def sweep_change(probabilities: Array, plain: float) -> Array:
    """Return log₂ of how each probability has changed: −1 is half of it."""
    return np.log2(np.maximum(probabilities, 1e-12) / max(plain, 1e-12))


def selected_sweep_head(event: Any, probabilities: Array) -> tuple[int, int] | None:
    """Return the (layer, head) that was clicked, or None."""
    cell = selected_cell(event, probabilities.T)
    return None if cell is None else (cell[1], cell[0])


def telling(found: Looking) -> dict[str, tuple[int, int]]:
    """Return up to three heads that say that looking is not mattering, as (layer, head).

    `matters`: whose removal changes most. `looks`: of those that look much, the one that looks most
    of those that change next to nothing. `hides`: of those that look little, whose removal changes
    most.
    """
    size, shares = np.abs(found.changes), found.shares
    place = {"matters": np.unravel_index(size.argmax(), size.shape)}
    idle = np.where((shares >= MUCH) & (size < 0.1), shares, -1.0)
    if idle.max() > 0:
        place["looks"] = np.unravel_index(idle.argmax(), idle.shape)
    quiet = np.where(shares <= LITTLE, size, -1.0)
    if quiet.max() > 0.5:
        place["hides"] = np.unravel_index(quiet.argmax(), quiet.shape)
    heads = {name: (int(layer), int(head)) for name, (layer, head) in place.items()}
    if heads.get("hides") == heads["matters"]:
        del heads["hides"]
    return heads


def head_words(found: Looking, place: tuple[int, int], read: str, answer: str) -> str:
    """Say of one head how much it looks and what its removal changes, plain."""
    layer, head = place
    return (
        f"Head {head} of layer {layer} gives {read} {percent(float(found.shares[place]))}; without "
        f"it {answer} has {percent(float(found.probabilities[place]))}"
    )


def looking_title(found: Looking, read: str, answer: str) -> str:
    """Say what the cloud shows, with the head that says it best."""
    heads = telling(found)
    if "looks" not in heads:
        return f"Attention on {read}, and {answer} without each head: not the same thing"
    layer, head = heads["looks"]
    return (
        f"Looking is not mattering: head {head} of layer {layer} gives {read} "
        f"{percent(float(found.shares[heads['looks']]))}, and without it {answer} goes from "
        f"{percent(found.plain)} to {percent(float(found.probabilities[heads['looks']]))}"
    )


def looking_figure(found: Looking, *, read: str, answer: str, key: str) -> go.Figure:
    """Draw every head by its attention on a token and by the answer's probability without it.

    Args:
        found: both numbers of all heads.
        read: the token that is read, in quotation marks.
        answer: the answer, likewise.
        key: the chart's key.
    """
    figure = frame(looking_title(found, read, answer), height=400, revision=key)
    layers, heads = found.shares.shape
    layer, head = (grid.ravel() for grid in np.mgrid[:layers, :heads])
    marked = {at: name for name, at in telling(found).items()}
    chosen = [(int(a), int(b)) in marked for a, b in zip(layer, head, strict=True)]
    figure.add_trace(
        go.Scatter(
            x=packed(found.shares.ravel()),
            y=packed(found.probabilities.ravel()),
            customdata=np.stack([layer, head], axis=1).astype(np.uint8),
            mode="markers+text",
            text=[
                f"layer {a}, head {b}" if named else ""
                for a, b, named in zip(layer, head, chosen, strict=True)
            ],
            textposition=[
                "middle left" if share > MUCH else "middle right" for share in found.shares.ravel()
            ],
            textfont={"size": 13, "color": theme.TEXT},
            marker={
                "size": [12 if named else 7 for named in chosen],
                "color": [theme.PICKED if named else theme.ACCENT for named in chosen],
                "opacity": 0.75,
            },
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 0.75}},
            hovertemplate="layer %{customdata[0]}, head %{customdata[1]}<br>attention %{x:"
            + share_format(1)
            + "}<br>without it %{y:"
            + share_format(1)
            + "}<extra></extra>",
        )
    )
    figure.add_hline(y=found.plain, line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dot"})
    figure.update_xaxes(
        title=escape(f"attention that the last token gives to {read}"),
        range=[-0.02, 1.02],
        tickformat=share_format(),
        zeroline=False,
    )
    figure.update_yaxes(
        title=escape(f"{answer} without the head"), rangemode="tozero", tickformat=share_format()
    )
    return figure


def selected_dot(event: Any, found: Looking) -> tuple[int, int] | None:
    """Return the (layer, head) of the clicked dot, or None."""
    number = chosen_index(event, found.shares.size, curve=0)
    return None if number is None else divmod(number, found.shares.shape[1])
