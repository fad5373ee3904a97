"""Take a part away: the controls, the two answers side by side, and the sweep over all heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.arrays import Array
from components.kit.bars import bars
from components.kit.heatmap import heatmap, selected_cell
from components.kit.layout import side_by_side
from components.kit.lines import lines
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import markdown, visible
from components.kit.text import plotly as escape
from components.link import keys, widgets

if TYPE_CHECKING:
    from engine.interpret.knockout import Difference

BytesOf = Callable[[int], bytes]


@dataclass(frozen=True)
class Choice:
    """An edit that a button offers."""

    label: str
    code: str
    """As the link carries it."""
    help: str | None = None


def add(code: str) -> None:
    """Put one more edit into the text; for callbacks."""
    codes = str(st.session_state.get(keys.EDITS) or "").split()
    if code not in codes:
        st.session_state[keys.EDITS] = " ".join([*codes, code])


def only(code: str) -> None:
    """Make an edit the only one; for callbacks."""
    st.session_state[keys.EDITS] = code


def restore() -> None:
    """Take every edit back; for callbacks."""
    st.session_state[keys.EDITS] = ""


def controls(choices: Sequence[Choice], presets: Sequence[Choice]) -> str:
    """Draw the buttons and the text of the edits, and return that text.

    Args:
        choices: each adds an edit of what is selected.
        presets: each makes one telling edit the only one.
    """
    with st.container(horizontal=True, key="take_away"):
        for number, choice in enumerate(choices):
            st.button(
                choice.label,
                key=f"take_{number}",
                icon=":material/remove_circle:",
                help=choice.help,
                on_click=add,
                args=(choice.code,),
            )
    with st.container(horizontal=True, vertical_alignment="bottom", key="edit_row"):
        text = widgets.text(
            "Taken away",
            key=keys.EDITS,
            placeholder="nothing: the model is as it was trained",
            help="`h9.4` head 4 of layer 9 · `a0` attention of layer 0 · `m11` feed-forward of "
            "layer 11 · `p` position · `e3:504` token 3 gets the embedding of token 504. It is "
            "in the link.",
        )
        st.button(
            "Restore",
            key="restore",
            icon=":material/undo:",
            on_click=restore,
            disabled=not text.strip(),
        )
        with st.popover("Try one of these", icon=":material/lightbulb:"):
            for number, preset in enumerate(presets):
                st.button(
                    preset.label,
                    key=f"preset_{number}",
                    help=preset.help,
                    on_click=only,
                    args=(preset.code,),
                    width="stretch",
                )
    return text


def show_difference(found: Difference, bytes_of: BytesOf, edited: str) -> None:
    """Draw both answers side by side, the measures, and where the two part ways.

    Args:
        found: the comparison.
        bytes_of: gives a token's bytes.
        edited: what was changed, in words.
    """
    ids = [int(i) for i in found.ids]
    pieces = [bytes_of(i) for i in ids]
    high = float(max(found.before.max(), found.after.max()))
    left, right = side_by_side(1, 1)
    with left:
        top = visible(bytes_of(int(found.lens_top_before[-1])), limit=14)
        chart(
            bars(
                ids,
                pieces,
                found.before,
                title=f"As it is: {top} {percent(found.before.max())}",
                key="before",
                high=high,
            ),
            key="before",
            alt="The likeliest next tokens of the model as it is",
        )
    with right:
        chart(after_figure(found, ids, pieces, bytes_of, high), key="after", alt=edited)
    with st.container(horizontal=True):
        st.metric("KL divergence", f"{found.kl:.2f} bits", help="How far the changed answer is off")
        st.metric(
            "Total variation",
            percent(found.total_variation),
            help="The share of the probability that has moved to other tokens.",
        )
        st.metric("Parts ways", parting_words(found))
    chart(
        lens_figure(found, bytes_of),
        key="parting",
        alt="KL divergence of the two passes, read by the logit lens layer by layer",
    )


def after_figure(
    found: Difference, ids: list[int], pieces: list[bytes], bytes_of: BytesOf, high: float
) -> go.Figure:
    """Draw the changed answer in the order of the first one, with arrows for the ranks."""
    top = visible(bytes_of(int(found.lens_top_after[-1])), limit=14)
    figure = bars(
        ids,
        pieces,
        found.after,
        title=f"As changed: {top} {percent(found.after.max())}",
        key="after",
        before=found.before,
        high=high,
    )
    texts = [
        f"{text}  {escape(rank_arrow(int(a), int(b)))}"
        for text, a, b in zip(
            figure.data[0].text, found.ranks_before, found.ranks_after, strict=True
        )
    ]
    figure.data[0].update(text=texts)
    figure.update_xaxes(range=[0, high * 1.35])
    return figure


def rank_arrow(before: int, after: int) -> str:
    """Write how a rank has changed: `▲ 2 → 1`."""
    if before == after:
        return f"= {after}"
    return f"{'▲' if after < before else '▼'} {before} → {after}"


def parting_block(found: Difference) -> int | None:
    """Return after how many blocks the two readings first name different tokens, to the end."""
    differ = found.lens_top_before != found.lens_top_after
    if not differ[-1]:
        return None
    same = np.flatnonzero(~differ)
    return int(same[-1]) + 1 if len(same) else 0


def parting_words(found: Difference) -> str:
    """Say where the two answers part ways for good."""
    block = parting_block(found)
    return "not at the end" if block is None else f"after block {block}"


def lens_figure(found: Difference, bytes_of: BytesOf) -> go.Figure:
    """Draw how far the two readings differ after every block."""
    block = parting_block(found)
    if block is None:
        name = visible(bytes_of(int(found.lens_top_after[-1])), limit=14)
        title = f"In the end both say {name}; the distance grows to {found.lens_kl[-1]:.2f} bits"
    else:
        a, b = (
            visible(bytes_of(int(top[block])), limit=14)
            for top in (found.lens_top_before, found.lens_top_after)
        )
        title = f"From block {block} on they say different things: first {a} and {b}"
    return lines(
        {"KL divergence in bits": found.lens_kl},
        title=title,
        key="parting",
        x_title="blocks passed",
        y_title="bits",
        selected=block,
        height=280,
    )


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


def in_words(code: str, pieces: Sequence[bytes], bytes_of: BytesOf) -> str:
    """Say what an edit does, as Markdown.

    Args:
        code: a valid code.
        pieces: the prompt's tokens.
        bytes_of: gives a token's bytes.
    """
    if code == "p":
        return "every token claims position 0"
    kind, rest = code[0], code[1:]
    if kind == "h":
        layer, head = rest.split(".")
        return f"head {head} of layer {layer} adds nothing"
    if kind == "e":
        position, token = (int(part) for part in rest.split(":"))
        old, new = (
            markdown(visible(piece, limit=20)) for piece in (pieces[position], bytes_of(token))
        )
        return f"token {position}, {old}, gets the embedding of {new}"
    part = "attention" if kind == "a" else "feed-forward network"
    return f"the {part} of layer {rest} adds nothing"
