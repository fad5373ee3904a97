"""One block as a picture: the residual stream, two branches that read it, and what each adds.

It follows the model that is loaded: its kind of norm, its feed-forward network, and whether both
branches read the same input (a parallel block).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

WIDE, TALL = (716, 235), (340, 470)
"""Width and height of the picture, and of its upright form for a narrow screen."""
STREAM_Y, BRANCH_Y = 185, 62
BOX_W, BOX_H = 88, 58
FIRST, SECOND = 90, 356
"""Where the two branches leave the stream."""
INTO, BETWEEN, BACK = 14, 128, 246
"""From there to the norm, to the part, and to where its output is added."""

TALL_STREAM, TALL_BRANCH, TALL_BOX, BOX_TALL = 48, 120, 112, 44
"""Upright: where the stream runs down, where the boxes of a branch stand, and their size."""
_TALL_NORMS, _TALL_STEP, _TALL_BACK = (92, 270), 74, (212, 390)
"""Upright: the height of each branch's norm, from there to its part, and where it is added."""

NORM_1, ATTENTION, NORM_2, MLP = "norm_1", "attention", "norm_2", "mlp"
PRE, POST = "resid_pre", "resid_post"
BOXES = (PRE, NORM_1, ATTENTION, NORM_2, MLP, POST)

_WIDE_BOXES: Mapping[str, tuple[int, int, int, int]] = {
    PRE: (6, STREAM_Y - 26, 72, 52),
    POST: (638, STREAM_Y - 26, 72, 52),
    NORM_1: (FIRST + INTO, BRANCH_Y - BOX_H // 2, BOX_W, BOX_H),
    ATTENTION: (FIRST + INTO + BETWEEN, BRANCH_Y - BOX_H // 2, BOX_W, BOX_H),
    NORM_2: (SECOND + INTO, BRANCH_Y - BOX_H // 2, BOX_W, BOX_H),
    MLP: (SECOND + INTO + BETWEEN, BRANCH_Y - BOX_H // 2, BOX_W, BOX_H),
}
_TALL_BOXES: Mapping[str, tuple[int, int, int, int]] = {
    PRE: (6, 2, 84, 44),
    POST: (6, 424, 84, 44),
    NORM_1: (TALL_BRANCH, _TALL_NORMS[0] - BOX_TALL // 2, TALL_BOX, BOX_TALL),
    ATTENTION: (TALL_BRANCH, _TALL_NORMS[0] + _TALL_STEP - BOX_TALL // 2, TALL_BOX, BOX_TALL),
    NORM_2: (TALL_BRANCH, _TALL_NORMS[1] - BOX_TALL // 2, TALL_BOX, BOX_TALL),
    MLP: (TALL_BRANCH, _TALL_NORMS[1] + _TALL_STEP - BOX_TALL // 2, TALL_BOX, BOX_TALL),
}


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
    """Return what the script in the browser draws, in plain values: both forms of the picture."""
    size = lengths_of(run)
    names = {
        PRE: (f"in\n{_short(size.pre)}", theme.STREAM),
        POST: (f"out\n{_short(size.post)}", theme.STREAM),
        NORM_1: (shape.norm, theme.NEUTRAL),
        ATTENTION: ("Attention", theme.ATTENTION),
        NORM_2: (shape.norm, theme.NEUTRAL),
        MLP: (mlp_name(shape), theme.FEED_FORWARD),
    }
    absent = {NORM_1} if run.attention_norm is None else set()
    absent |= {NORM_2} if run.mlp_norm is None else set()
    return {
        "wide": _form(names, absent, WIDE, _WIDE_BOXES)
        | {
            "wires": _wires(run),
            "pluses": [(FIRST + BACK, STREAM_Y), (SECOND + BACK, STREAM_Y)],
            "labels": _labels(size, run),
        },
        "tall": _form(names, absent, TALL, _TALL_BOXES)
        | {
            "wires": _tall_wires(run),
            "pluses": [(TALL_STREAM, _TALL_BACK[0]), (TALL_STREAM, _TALL_BACK[1])],
            "labels": _tall_labels(size, run),
        },
        "selected": selected,
        "stream": theme.STREAM,
        "label": f"Layer {run.layer} on token {run.position + 1}",
    }


def _form(
    names: Mapping[str, tuple[str, str]],
    absent: set[str],
    size: tuple[int, int],
    places: Mapping[str, tuple[int, int, int, int]],
) -> dict[str, Any]:
    """Return the size and the boxes of one form of the picture."""
    return {
        "width": size[0],
        "height": size[1],
        "boxes": [
            _box(key, names[key], *place) for key, place in places.items() if key not in absent
        ],
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


def _tall_wires(run: BlockRun) -> list[dict[str, Any]]:
    """Return the stream from top to bottom, and each branch as a loop at its right."""
    middle = TALL_BRANCH + TALL_BOX // 2
    wires: list[dict[str, Any]] = [
        {"points": [(TALL_STREAM, 44), (TALL_STREAM, 426)], "stream": True}
    ]
    for at, back in zip(_TALL_NORMS, _TALL_BACK, strict=True):
        part, edge = at + _TALL_STEP, BOX_TALL // 2
        wires.append({"points": [(middle, at + edge), (middle, part - edge)]})
        wires.append({"points": [(middle, part + edge), (middle, back), (TALL_STREAM + 15, back)]})
    first, second = _TALL_NORMS
    wires.append({"points": [(TALL_STREAM, first), (TALL_BRANCH, first)]})
    if run.parallel:  # past the first branch, where both read the same input
        around = TALL[0] - 24
        right = TALL_BRANCH + TALL_BOX
        wires.append(
            {"points": [(TALL_STREAM, 62), (around, 62), (around, second), (right, second)]}
        )
    else:
        wires.append({"points": [(TALL_STREAM, second), (TALL_BRANCH, second)]})
    return wires


def _tall_labels(size: Lengths, run: BlockRun) -> list[dict[str, Any]]:
    """Return the lengths of the upright form, each at its arrow."""
    middle = TALL_BRANCH + TALL_BOX // 2
    name = "pre + attn" if run.parallel else "mid"
    labels = [
        _label(middle + 10, _TALL_BACK[0] + 5, f"adds {_short(size.attention)}", "start"),
        _label(middle + 10, _TALL_BACK[1] + 5, f"adds {_short(size.mlp)}", "start"),
        _label(TALL_STREAM + 12, _TALL_BACK[0] + 32, f"{name}: length {_short(size.mid)}", "start"),
    ]
    for at, length in zip(_TALL_NORMS, (size.normed_1, size.normed_2), strict=True):
        if length is not None:
            labels.append(_label(middle + 10, at + _TALL_STEP // 2 + 5, _short(length), "start"))
    return labels


def _label(x: float, y: float, text: str, anchor: str = "middle") -> dict[str, Any]:
    return {"x": x, "y": y, "text": text, "anchor": anchor}


def _box(key: str, name: tuple[str, str], x: int, y: int, w: int, h: int) -> dict[str, Any]:
    text, colour = name
    says = f"{text.replace(chr(10), ', length ')}: open its numbers"
    return {"key": key, "text": text, "says": says, "x": x, "y": y, "w": w, "h": h} | {
        "colour": colour
    }


def _short(value: float) -> str:
    """Write a length with the digits that matter."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"
