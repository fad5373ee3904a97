"""The attention page's controls and words: three levels of zoom, and where to look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from components.attention.figures import KINDS, kind_of, reading_figure
from components.kit.arrays import Array
from components.kit.clicks import selected_points
from components.kit.layout import THIRD
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import quoted, visible
from components.link import keys, widgets
from components.link.selection import chosen, pick

if TYPE_CHECKING:
    from engine.attention.patterns import HeadScores

ALL, HEAD, CELL = "All heads", "One head", "One cell"
CACHE, AWAY = "KV cache", "Take a part away"
LEVELS = (ALL, HEAD, CELL, CACHE, AWAY)
ARCS, MATRIX, STEPS = "Arcs", "Matrix", "Step by step"
PICTURES = (ARCS, MATRIX, STEPS)


@dataclass(frozen=True)
class Options:
    """How the patterns are drawn."""

    without_first: bool
    """Leave out the first token and let the rest of each row sum to 1."""
    log: bool = False


def levels() -> str:
    """Draw the levels as a row that leads up and down, and return the open one."""
    return str(
        widgets.choice(
            "Zoom", LEVELS, default=HEAD, key=keys.ATTENTION_PART, label_visibility="collapsed"
        )
    )


def views_of_head() -> str:
    """Draw the choice of how one head is seen, and return it."""
    return widgets.choice(
        "View of the head",
        PICTURES,
        key=keys.ATTENTION_PICTURE,
        label_visibility="collapsed",
        width="content",
    )


def options(*, log: bool) -> Options:
    """Draw how patterns are drawn, and return it.

    Args:
        log: whether the picture has colours that can go by the order of magnitude.
    """
    without_first = widgets.toggle(
        "Leave out the first token",
        key=keys.WITHOUT_FIRST,
        help="Most heads rest on the first token when they have nothing to do. Without it, and "
        "with the rest of each row scaled to sum to 1, you see what else they read.",
    )
    by_order = log and widgets.toggle(
        "Log scale",
        key=keys.LOG_PATTERN,
        help="Colour by order of magnitude, so that small shares show too.",
    )
    return Options(without_first, by_order)


def go_to_head(layer: int, head: int) -> None:
    """Choose a head and go down to it; for callbacks."""
    st.session_state[keys.LAYER] = layer
    st.session_state[keys.HEAD] = head
    st.session_state[keys.ATTENTION_PART] = HEAD


def go_to_cell(query: int, key: int) -> None:
    """Choose a cell and go down to it; for callbacks."""
    st.session_state[keys.TOKEN] = query
    st.session_state[keys.READ] = key
    st.session_state[keys.ATTENTION_PART] = CELL


def choose_token(token: int) -> None:
    """Choose the token that reads; for callbacks."""
    st.session_state[keys.TOKEN] = token


def shares_of(scores: HeadScores, layer: int, head: int) -> dict[str, float]:
    """Return one head's shares by kind."""
    return {kind.key: float(getattr(scores, kind.key)[layer, head]) for kind in KINDS}


def mosaic_title(scores: HeadScores, options: Options) -> str:
    """Say what the picture of all heads shows."""
    layers, heads = scores.first.shape
    share = float(scores.first.mean())
    if options.without_first:
        return (
            f"{layers * heads} heads without the first token, which takes {percent(share)} of the "
            "attention"
        )
    return (
        f"{layers * heads} heads: on average {percent(share)} of the attention is on the first "
        "token"
    )


def finder(scores: HeadScores) -> None:
    """Draw one button for each kind of head, which leads to the head with the largest share."""
    st.markdown("**Find a head that …**")
    with st.container(horizontal=True):
        for kind in KINDS:
            values = getattr(scores, kind.key)
            layer, head = (int(i) for i in np.unravel_index(values.argmax(), values.shape))
            found = float(values[layer, head])
            count = int((values >= kind.threshold).sum())
            place = f"layer {layer}, head {head} · {percent(found)}" if found else "none here"
            st.button(
                f"{kind.wish}: {place}",
                key=f"find_{kind.key}",
                on_click=go_to_head,
                args=(layer, head),
                disabled=found == 0,
                help=f"Of all its looking, the average share that goes to {kind.definition}. "
                f"{count} of {values.size} heads reach {percent(kind.threshold)} here.",
            )
    if not scores.followed:
        st.caption(
            "No token of this prompt comes back, so there is nothing for an induction head to "
            "copy. Try the example “Copying from before”."
        )


def read_position(row: Array) -> int:
    """Return the chosen key, or the one with the largest share if that can't be read.

    Args:
        row: `[S]`, the chosen token's shares, NaN where it can't read.
    """
    read = chosen(keys.READ)
    if read is not None and 0 <= read < len(row) and np.isfinite(row[read]):
        return read
    return int(np.nan_to_num(row, nan=-1.0).argmax())


def pick_read(token: int, pieces: Sequence[bytes], start: int) -> int:
    """Draw the choice of the token that is read, and return it.

    Args:
        token: the chosen query, which reads.
        pieces: the tokens' bytes.
        start: what is read until somebody chooses.
    """

    def spell(index: int) -> str:
        return f"{index + 1}: {visible(pieces[index], limit=14)}"

    entry = keys.Limit(keys.READ, "Token that is read", 0, token, start, 1, whole=True)
    return pick(entry, spell, width=180)


def telling_read(row: Array, token: int) -> int:
    """Return what a token reads most, past the first token and itself where there are others.

    Args:
        row: `[S]`, its shares.
        token: its own position.
    """
    others = row[1:token]
    return 1 + int(others.argmax()) if len(others) else int(row[: token + 1].argmax())


def show_reading(row: Array, pieces: Sequence[bytes], token: int, options: Options) -> None:
    """Draw what the chosen token reads most; a click chooses the token that is read."""
    if not np.isfinite(row).any():
        st.markdown(f"Token {token + 1} can read nothing but the first token.")
        return
    read = read_position(row)
    best = int(np.nanargmax(row))

    def choose(event: Any) -> None:
        for point in selected_points(event):
            position = point.get("customdata")
            if isinstance(position, list):
                position = position[0] if position else None
            if isinstance(position, int) and 0 < position <= len(pieces):
                go_to_cell(token, position - 1)

    chart(
        reading_figure(
            row,
            pieces,
            title=f"{quoted(pieces[token])} reads {quoted(pieces[best])} most: "
            f"{percent(row[best])}",
            key="reading",
            read=read,
        ),
        key="reading",
        alt=f"What token {token + 1} reads most in this head",
        on_select=choose,
        room=THIRD,
    )
    st.caption(
        "Small numbers are the tokens' places, from 1 on; a click on a bar or a cell spells it out "
        "as a sum."
        + (" Shares are of what is left without the first token." if options.without_first else "")
    )


def show_shares(shares: dict[str, float], scores: HeadScores) -> None:
    """Say what kind of reader the head is on this prompt."""
    kind = kind_of(shares)
    said = "none of these" if kind is None else f"**{kind.name.lower()} head**"
    lines = [
        f"- {entry.name}: {_share(shares[entry.key], entry.key, scores)}"
        + (" ✓" if entry is kind else "")
        for entry in KINDS
    ]
    st.markdown(f"**Kind of head on this prompt:** {said}\n" + "\n".join(lines))


def _share(share: float, key: str, scores: HeadScores) -> str:
    if (key == "same" and not scores.repeats) or (key == "induction" and not scores.followed):
        return "– (no token comes back)"
    return f"{percent(share)}"
