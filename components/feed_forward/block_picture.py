"""One block as a picture: the residual stream, two branches that read it, and what each adds.

It follows the model that is loaded: its kind of norm, its feed-forward network, and whether both
branches read the same input (a parallel block).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from components.kit import theme
from components.kit.browser import component

if TYPE_CHECKING:
    from engine.feed_forward.block import BlockRun
    from engine.network.architecture import Architecture

_COMPONENT = component("feed_forward/block", '<div class="block"></div>')

WIDTH, HEIGHT = 716, 235
STREAM_Y, BRANCH_Y = 185, 62
BOX_W, BOX_H = 88, 58
FIRST, SECOND = 90, 356
"""Where the two branches leave the stream."""
INTO, BETWEEN, BACK = 14, 128, 246
"""From there to the norm, to the part, and to where its output is added."""

NORM_1, ATTENTION, NORM_2, MLP = "norm_1", "attention", "norm_2", "mlp"
PRE, POST = "resid_pre", "resid_post"
BOXES = (PRE, NORM_1, ATTENTION, NORM_2, MLP, POST)


@dataclass(frozen=True)
class Lengths:
    """The L2 norms that stand on the arrows."""

    pre: float
    normed_1: float | None
    attention: float
    mid: float
    normed_2: float | None
    mlp: float
    post: float


def lengths_of(run: BlockRun) -> Lengths:
    """Return the lengths of a block's vectors."""

    def length(vector: Any) -> float:
        return float(np.linalg.norm(vector))

    def normed(steps: Any) -> float | None:
        return None if steps is None else length(steps.output)

    return Lengths(
        length(run.resid_pre),
        normed(run.attention_norm),
        length(run.attn_out),
        length(run.resid_mid),
        normed(run.mlp_norm),
        length(run.mlp_out),
        length(run.resid_post),
    )


def mlp_name(shape: Architecture) -> str:
    """Return what the feed-forward network is called, such as SwiGLU or GELU MLP."""
    activation = shape.activation.lower()
    if shape.gated:
        return "SwiGLU" if "silu" in activation or "swish" in activation else "GeGLU"
    return f"{'GELU' if 'gelu' in activation else activation.upper()} MLP"


def block_picture(
    shape: Architecture,
    run: BlockRun,
    *,
    selected: str,
    key: str,
    on_select: Callable[[str], None],
) -> None:
    """Draw the block; a click on a box reports its key, one of `BOXES`.

    Args:
        shape: the model's parts.
        run: the block at work on one token.
        selected: the box that is open.
        key: unique on the page.
        on_select: called before the page's script runs again.
    """

    def picked() -> None:
        chosen = st.session_state[key].get("picked")
        if chosen in BOXES:
            on_select(str(chosen))

    _COMPONENT(key=key, data=picture_data(shape, run, selected=selected), on_picked_change=picked)


def picture_data(shape: Architecture, run: BlockRun, *, selected: str) -> dict[str, Any]:
    """Return what the script in the browser draws, in plain values."""
    size = lengths_of(run)
    boxes = [
        _box(PRE, f"in\n{_short(size.pre)}", 6, STREAM_Y - 26, 72, 52, theme.STREAM),
        _box(POST, f"out\n{_short(size.post)}", 638, STREAM_Y - 26, 72, 52, theme.STREAM),
        _branch_box(NORM_1, shape.norm, FIRST + INTO, theme.NEUTRAL),
        _branch_box(ATTENTION, "Attention", FIRST + INTO + BETWEEN, theme.ATTENTION),
        _branch_box(NORM_2, shape.norm, SECOND + INTO, theme.NEUTRAL),
        _branch_box(MLP, mlp_name(shape), SECOND + INTO + BETWEEN, theme.FEED_FORWARD),
    ]
    boxes = [
        box
        for box in boxes
        if not (
            (box["key"] == NORM_1 and run.attention_norm is None)
            or (box["key"] == NORM_2 and run.mlp_norm is None)
        )
    ]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "boxes": boxes,
        "wires": _wires(run),
        "pluses": [(FIRST + BACK, STREAM_Y), (SECOND + BACK, STREAM_Y)],
        "labels": _labels(size, run),
        "selected": selected,
        "stream": theme.STREAM,
        "label": f"Block {run.layer} on token {run.position}",
    }


def _wires(run: BlockRun) -> list[dict[str, Any]]:
    """Return the stream and the two branches, as lines of points."""
    y, read = BRANCH_Y, FIRST if run.parallel else SECOND
    wires: list[dict[str, Any]] = [{"points": [(78, STREAM_Y), (638, STREAM_Y)], "stream": True}]
    for at in (FIRST, SECOND):
        norm, part, back = at + INTO, at + INTO + BETWEEN, at + BACK
        wires.append({"points": [(norm + BOX_W, y), (part, y)]})
        wires.append({"points": [(part + BOX_W, y), (back, y), (back, STREAM_Y - 15)]})
    wires.append({"points": [(FIRST, STREAM_Y), (FIRST, y), (FIRST + INTO, y)]})
    # Past the first branch, on a line of its own, where both read the same input.
    around = [(read, 14), (SECOND - 4, 14), (SECOND - 4, y)] if run.parallel else [(read, y)]
    wires.append({"points": [(read, STREAM_Y), *around, (SECOND + INTO, y)]})
    return wires


def _labels(size: Lengths, run: BlockRun) -> list[dict[str, Any]]:
    """Return the lengths, each at its arrow."""
    under, over = STREAM_Y + 30, BRANCH_Y - 8
    mid = "pre + attn" if run.parallel else "mid"
    labels = [
        _label((FIRST + FIRST + BACK) / 2, under, f"length {_short(size.pre)}"),
        _label((SECOND + SECOND + BACK) / 2, under, f"{mid}: length {_short(size.mid)}"),
        _label(FIRST + BACK - 8, 132, f"adds {_short(size.attention)}", "end"),
        _label(SECOND + BACK - 8, 132, f"adds {_short(size.mlp)}", "end"),
    ]
    for at, length in ((FIRST, size.normed_1), (SECOND, size.normed_2)):
        if length is not None:
            labels.append(_label(at + INTO + (BOX_W + BETWEEN) / 2, over, _short(length)))
    return labels


def _label(x: float, y: float, text: str, anchor: str = "middle") -> dict[str, Any]:
    return {"x": x, "y": y, "text": text, "anchor": anchor}


def _branch_box(key: str, text: str, x: int, colour: str) -> dict[str, Any]:
    return _box(key, text, x, BRANCH_Y - BOX_H // 2, BOX_W, BOX_H, colour)


def _box(key: str, text: str, x: int, y: int, w: int, h: int, colour: str) -> dict[str, Any]:
    says = f"{text.replace(chr(10), ', length ')}: open its numbers"
    return {"key": key, "text": text, "says": says, "x": x, "y": y, "w": w, "h": h} | {
        "colour": colour
    }


def _short(value: float) -> str:
    """Write a length with the digits that matter."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"
