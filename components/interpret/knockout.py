"""Take a part away: the controls, and the answer as it is and as it is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.figure import frame, packed, share_format, token_labels
from components.kit.layout import FULL
from components.kit.lines import lines
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import counted, markdown, quoted, visible
from components.kit.text import plotly as escape
from components.link import keys, widgets
from components.link.changes import change
from engine.observe.edits import (
    Edit,
    KnockOutAttention,
    KnockOutHead,
    KnockOutMlp,
    PositionOff,
    ReplaceEmbedding,
    write_edits,
)

if TYPE_CHECKING:
    from engine.interpret.knockout import Difference

BytesOf = Callable[[int], bytes]
EXAMPLE = "example_edit"
SHOWN = 7
"""Tokens whose probabilities are drawn."""


@dataclass(frozen=True)
class Choice:
    """Edits that a button offers."""

    label: str
    edits: tuple[Edit, ...]
    help: str | None = None
    prompt: str | None = None
    """The prompt that it belongs to; None: whatever stands there."""


def add(*edits: Edit) -> None:
    """Put edits into the text that the link carries; for callbacks."""
    codes = str(st.session_state.get(keys.EDITS) or "").split()
    codes += [code for code in map(_code, edits) if code not in codes]
    st.session_state[keys.EDITS] = " ".join(codes)


def only(*edits: Edit) -> None:
    """Make edits the only ones; for callbacks."""
    st.session_state[keys.EDITS] = write_edits(edits)


def restore() -> None:
    """Take every edit back; for callbacks."""
    st.session_state[keys.EDITS] = ""


def remove(edit: Edit) -> None:
    """Take one edit back; for callbacks."""
    codes = str(st.session_state.get(keys.EDITS) or "").split()
    st.session_state[keys.EDITS] = " ".join(code for code in codes if code != _code(edit))


def _code(edit: Edit) -> str:
    """Return an edit as the link carries it."""
    return write_edits([edit])


def controls(choices: Sequence[Choice], presets: Sequence[Choice]) -> None:
    """Draw a row of buttons: each takes something away that is selected, a menu has examples.

    Args:
        choices: each adds an edit of what is selected.
        presets: each makes one telling edit the only one.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="take_away", gap="xsmall"):
        st.markdown("**Take away**", width="content")
        for number, choice in enumerate(choices):
            st.button(
                choice.label,
                key=f"take_{number}",
                help=choice.help,
                on_click=add,
                args=choice.edits,
            )
        st.menu_button(
            "Try one of these",
            [preset.label for preset in presets],
            key=EXAMPLE,
            on_click=_use_example,
            args=(tuple(presets),),
        )


def _use_example(presets: Sequence[Choice]) -> None:
    """Make the chosen example the only edit, on its own prompt if it has one."""
    label = st.session_state.get(EXAMPLE)
    for preset in presets:
        if preset.label == label and preset.prompt is None:
            only(*preset.edits)
        elif preset.label == label:
            text = write_edits(preset.edits)
            values = {keys.PROMPT: preset.prompt, keys.CHAT: False, keys.EDITS: text}
            change(f"The prompt is now “{preset.prompt}”, {preset.label}.", values)


def edits_text() -> str:
    """Draw the edits as the link carries them, and return that text."""
    with st.popover("As text", help="What is taken away, as the link carries it."):
        return widgets.text(
            "Taken away",
            key=keys.EDITS,
            placeholder="nothing: the model is as it was trained",
            help="`h9.4` head 4 of layer 9 · `a0` attention of layer 0 · `m11` feed-forward "
            "network of layer 11 · `p` position · `e3:504` the fourth token (counted from 0: 3) "
            "gets the embedding of token 504.",
        )


def taken_away(listed: Sequence[tuple[Edit, str]]) -> None:
    """Draw every edit in words, with a button that takes it back.

    Args:
        listed: each edit, and what it does, as Markdown.
    """
    for edit, words in listed:
        st.button(
            words,
            key=f"back_{_code(edit)}",
            icon=":material/close:",
            help="Take this back",
            on_click=remove,
            args=(edit,),
        )
    st.button(
        "Restore all",
        key="restore",
        icon=":material/undo:",
        on_click=restore,
        disabled=not listed,
    )


def show_difference(found: Difference, bytes_of: BytesOf) -> None:
    """Draw the measures of a change, and where the two passes part ways.

    Args:
        found: the comparison.
        bytes_of: gives a token's bytes.
    """
    with st.container(horizontal=True):
        st.metric(
            "Change of the answer",
            f"{found.kl:.2f} bits",
            help="0: nothing changed. 1: clearly another list. Over 5: another answer altogether. "
            "(The KL divergence of the two distributions.)",
        )
        st.metric(
            "Probability that moved",
            percent(found.total_variation),
            help="The share of the probability that has gone to other tokens (total variation).",
        )
        st.metric("First different word", parting_words(found))
    chart(
        lens_figure(found, bytes_of),
        key="parting",
        alt="KL divergence of the two passes, read by the logit lens layer by layer",
        room=FULL,
    )


def answers_title(found: Difference, bytes_of: BytesOf, changed: str) -> str:
    """Say what became of the first answer.

    Args:
        found: the comparison.
        bytes_of: gives a token's bytes.
        changed: what was done to the model, to begin a sentence: “Without head 4 of layer 23”.
    """
    place = int(np.flatnonzero(found.ranks_before == 1)[0])
    name = quoted(bytes_of(int(found.ids[place])))
    before, after = percent(found.before[place]), percent(found.after[place])
    rank = int(found.ranks_after[place])
    if before == after:
        return f"{changed}, {name} stays at {after}"
    left = "" if rank == 1 else f" and is number {rank:,} now"
    verb = "falls" if found.after[place] < found.before[place] else "rises"
    return f"{changed}, {name} {verb} from {before} to {after}{left}"


def answers_figure(found: Difference, bytes_of: BytesOf, *, key: str) -> go.Figure:
    """Draw the likeliest tokens of either pass with both probabilities, on one scale.

    `answers_title` is its title.

    Args:
        found: the comparison.
        bytes_of: gives a token's bytes.
        key: the chart's key.
    """
    likely = np.argsort(-np.maximum(found.before, found.after), kind="stable")[:SHOWN]
    rows = np.sort(likely)
    figure = frame(
        "",
        height=70 + 44 * len(rows),
        revision=key,
        barmode="group",
        bargap=0.3,
        bargroupgap=0.05,
        showlegend=True,
        legend={"orientation": "h"},
    )
    ranks = zip(found.ranks_before[rows], found.ranks_after[rows], strict=True)
    arrows = [rank_arrow(int(a), int(b)) for a, b in ranks]
    for name, values, colour, texts in (
        ("as it is", found.before, theme.NEUTRAL, [""] * len(rows)),
        ("as changed", found.after, theme.PICKED, [f"   {arrow}" for arrow in arrows]),
    ):
        written = [
            percent(float(value)) + text for value, text in zip(values[rows], texts, strict=True)
        ]
        figure.add_trace(
            go.Bar(
                x=packed(values[rows]),
                y=list(range(len(rows))),
                orientation="h",
                name=name,
                marker={"color": colour},
                text=[escape(text) for text in written],
                textposition="outside",
                textfont={"size": 13, "color": theme.TEXT},
                cliponaxis=False,
                hovertemplate=f"%{{y}}<br>{name} %{{text}}<extra></extra>",
            )
        )
    high = float(max(found.before.max(), found.after.max()))
    figure.update_xaxes(range=[0, 1.18 * high], tickformat=share_format(), fixedrange=True)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(rows))),
        ticktext=token_labels([bytes_of(int(i)) for i in found.ids[rows]]),
        tickfont={"family": "monospace", "size": 14},
        range=[len(rows) - 0.5, -0.5],
        fixedrange=True,
    )
    return figure


def rank_arrow(before: int, after: int) -> str:
    """Write how a rank has changed: `▲ 2 → 1`."""
    if before == after:
        return f"= {after}"
    return f"{'▲' if after < before else '▼'} {before} → {after}"


def parting_block(found: Difference) -> int | None:
    """Return after how many layers the two readings first name different tokens, to the end."""
    differ = found.lens_top_before != found.lens_top_after
    if not differ[-1]:
        return None
    same = np.flatnonzero(~differ)
    return int(same[-1]) + 1 if len(same) else 0


def parting_words(found: Difference) -> str:
    """Say where the two answers part ways for good."""
    block = parting_block(found)
    return "none" if block is None else f"after {counted(block, 'layer')}"


def lens_figure(found: Difference, bytes_of: BytesOf) -> go.Figure:
    """Draw how far the two readings differ after every layer."""
    block = parting_block(found)
    if block is None:
        name = quoted(bytes_of(int(found.lens_top_after[-1])))
        title = f"In the end both say {name}; the distance grows to {found.lens_kl[-1]:.2f} bits"
    else:
        a, b = (
            quoted(bytes_of(int(top[block])))
            for top in (found.lens_top_before, found.lens_top_after)
        )
        title = f"From layer {block} on they say different things: first {a} and {b}"
    return lines(
        {"KL divergence in bits": found.lens_kl},
        title=title,
        key="parting",
        x_title="layers passed",
        y_title="bits",
        selected=block,
        height=280,
    )


def in_words(edit: Edit, pieces: Sequence[bytes], bytes_of: BytesOf) -> str:
    """Say what an edit does, as Markdown.

    Args:
        edit: an edit of this prompt.
        pieces: the prompt's tokens.
        bytes_of: gives a token's bytes.
    """
    match edit:
        case KnockOutHead(layer, head):
            return f"head {head} of layer {layer} adds nothing"
        case KnockOutAttention(layer):
            return f"the attention of layer {layer} adds nothing"
        case KnockOutMlp(layer):
            return f"the feed-forward network of layer {layer} adds nothing"
        case PositionOff():
            return "every token claims to be the first"
        case ReplaceEmbedding(position, token):
            old, new = (
                markdown(visible(piece, limit=20)) for piece in (pieces[position], bytes_of(token))
            )
            return f"token {position + 1}, {old}, gets the embedding of {new}"


def without(edit: Edit) -> str:
    """Begin a sentence on what an edit does, plain: “Without head 4 of layer 23”."""
    match edit:
        case KnockOutHead(layer, head):
            return f"Without head {head} of layer {layer}"
        case KnockOutAttention(layer):
            return f"Without attention of layer {layer}"
        case KnockOutMlp(layer):
            return f"Without the feed-forward network of layer {layer}"
        case PositionOff():
            return "Without position"
        case ReplaceEmbedding(position):
            return f"With another word as token {position + 1}"
