"""“Take a part away”, the same on the attention and the feed-forward page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from components.interpret import knockout
from components.kit.layout import FULL
from components.kit.show import chart
from components.kit.tasks import Task
from components.kit.text import markdown, quoted, visible
from components.link import check, keys
from engine.model.weights import DEFAULT
from engine.observe.edits import (
    Edit,
    KnockOutAttention,
    KnockOutHead,
    KnockOutMlp,
    PositionOff,
    ReplaceEmbedding,
    read_edits,
)
from pages.frame import results
from pages.interpret import sweep

if TYPE_CHECKING:
    from engine.attention.patterns import HeadScores
    from pages.frame.live import Live

REPLACEMENT = "replacement"
FACT = "The capital of France is"
FACT_HEADS = ((23, 4), (16, 0), (0, 4))
"""Heads of the default model that say on this prompt that looking is not mattering: the first looks
and matters, the second looks and does not, the third does not look and matters."""


def show(live: Live, scores: HeadScores) -> None:
    """Draw the controls, the answer as it is and as changed, and which heads matter.

    While nothing is taken away, a telling head is, as an example.

    Args:
        live: the prompt; layer, head and token are those of the selection.
        scores: of the heads, to find an induction head for the presets.
    """
    bytes_of = live.model.tokenizer.bytes_of
    knockout.controls(_choices(live), _presets(live, scores))
    picture = st.container(key="main_picture", gap="xsmall")
    with st.container(horizontal=True, vertical_alignment="center", key="edit_row"):
        edits = _read(live, knockout.edits_text())
        pieces = [token.data for token in live.tokens]
        words = [(edit, knockout.in_words(edit, pieces, bytes_of)) for edit in edits]
        knockout.taken_away(words)
    shown, changed = edits, " and ".join(map(knockout.without, edits))
    if not edits:
        layer, head = sweep.head_that_matters(live)
        shown = (KnockOutHead(layer, head),)
        changed = f"For example without head {head} of layer {layer}"
    elif len(edits) > 1:
        changed = f"With {len(edits)} changes"
    with picture:
        with st.spinner("Running the changed model once …"):
            found = results.difference(live.model.source, live.ids, shown)
        title = knockout.answers_title(found, bytes_of, changed)
        st.markdown(f"##### {markdown(title)}")
        figure = knockout.answers_figure(found, bytes_of, key="answers")
        chart(figure, key="answers", alt=title, room=FULL)
    st.caption(
        (
            "The other views show the model as it is. "
            if edits
            else "Nothing is taken away yet: this is the head that matters here. Press a button "
            "above to take away what is selected. "
        )
        + "Careful: the rest of the model never learned to do without this part. And a part may "
        "look useless only because another one does the same job."
    )
    sweep.show(live)
    knockout.show_difference(found, bytes_of)
    _replacement(live)


def task(live: Live, *, part: type[Edit], bits: float, text: str, place: Mapping[str, str]) -> Task:
    """Return a task that asks for one telling edit: its text, whether it is done, and where.

    Args:
        live: the prompt.
        part: the kind of the one edit, such as `KnockOutHead`.
        bits: the KL divergence that is to be reached.
        text: what to do, as Markdown.
        place: where the page takes parts away.
    """
    hint = "The picture of all heads says which ones matter; the examples name a few more parts."
    edits, _ = _parsed(live, check.text(keys.EDITS))
    if not edits:
        return Task(text, False, "Nothing is taken away.", hint, place)
    found = results.difference(live.model.source, live.ids, edits)
    done = len(edits) == 1 and isinstance(edits[0], part) and found.kl >= bits
    now = f"Taken away: {len(edits)}; the answer is {found.kl:.2f} bits off."
    return Task(text, done, now, hint, place)


def _choices(live: Live) -> list[knockout.Choice]:
    """Return the edits of what is selected."""
    layer, head = (st.session_state.get(key, 0) for key in (keys.LAYER, keys.HEAD))
    choices = [
        knockout.Choice(f"head {head} of layer {layer}", (KnockOutHead(layer, head),)),
        knockout.Choice(f"attention of layer {layer}", (KnockOutAttention(layer),)),
        knockout.Choice(f"feed-forward of layer {layer}", (KnockOutMlp(layer),)),
    ]
    if live.model.architecture.positions != "none":
        choices.append(
            knockout.Choice(
                "position", (PositionOff(),), "Every token claims to be the first; the mask stays."
            )
        )
    return choices


def _presets(live: Live, scores: HeadScores) -> list[knockout.Choice]:
    """Return edits that show something on this prompt, or on a prompt of their own."""
    presets = []
    if live.model.source == DEFAULT:
        presets += [
            knockout.Choice(
                f"without head {head} of layer {layer}", (KnockOutHead(layer, head),), prompt=FACT
            )
            for layer, head in FACT_HEADS
        ]
    if scores.followed:
        best = np.unravel_index(scores.induction.argmax(), scores.induction.shape)
        layer, head = (int(i) for i in best)
        presets.append(
            knockout.Choice(
                f"The strongest induction head: layer {layer}, head {head}",
                (KnockOutHead(layer, head),),
                "It reads what followed the same token before, so it helps to repeat.",
            )
        )
        order = np.argsort(-scores.induction.ravel(), kind="stable")[:4]
        places = [divmod(int(i), scores.induction.shape[1]) for i in order]
        presets.append(
            knockout.Choice(
                "The four strongest induction heads",
                tuple(KnockOutHead(*place) for place in places),
                "One head's work is often done by others too; take several.",
            )
        )
    norms = results.residual_norms(live.model.source, live.ids)
    jump = int(norms.mlp_out.max(axis=1).argmax())
    presets += [
        knockout.Choice(
            "Attention of layer 0", (KnockOutAttention(0),), "The first reading of the neighbours."
        ),
        knockout.Choice(
            f"The feed-forward network that adds the longest vector: layer {jump}",
            (KnockOutMlp(jump),),
            "It makes the first token the place where attention rests.",
        ),
        knockout.Choice("The feed-forward network of layer 0", (KnockOutMlp(0),)),
        knockout.Choice(
            "Position", (PositionOff(),), "The order of the tokens is known from the mask alone."
        ),
    ]
    return presets


def _replacement(live: Live) -> None:
    """Draw the box that gives the chosen token another's embedding."""
    token = int(st.session_state.get(keys.TOKEN, 0))
    piece = quoted(live.tokens[token].data, limit=20)

    def replace() -> None:
        typed = str(st.session_state.get(REPLACEMENT) or "")
        found = live.model.tokenizer.after("", typed)
        if found:
            knockout.add(ReplaceEmbedding(token, found[0].id))

    with st.container(horizontal=True, vertical_alignment="bottom", key="replace_row"):
        typed = st.text_input(
            f"Give {markdown(piece)} (token {token + 1}) the embedding of another word",
            key=REPLACEMENT,
            max_chars=60,
            placeholder="type a word, with its leading space",
        )
        found = live.model.tokenizer.after("", typed)
        name = visible(found[0].data, limit=20) if found else "…"
        st.button(
            f"Replace by {markdown(name)}",
            key="replace",
            icon=":material/swap_horiz:",
            on_click=replace,
            disabled=not found,
            help="The first token of what you type counts.",
        )


def _parsed(live: Live, text: str) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """Return the edits of the text, and what can't be read."""
    edits, problems = read_edits(text, live.model.architecture, len(live.ids))
    return tuple(edits), tuple(problems)


def _read(live: Live, text: str) -> tuple[Edit, ...]:
    """Return the edits of the text, and say what can't be read."""
    edits, problems = _parsed(live, text)
    for problem in problems:
        st.warning(markdown(problem))
    return edits
