"""Attention in depth: the formula with this prompt's numbers, and what to try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from components.attention.cell import sum_in_words
from components.attention.figures import KINDS
from components.kit.arrays import Array
from components.kit.layout import formulas
from components.kit.model_words import divisor_latex
from components.kit.numbers import percent
from components.kit.tasks import Task
from components.link import keys

if TYPE_CHECKING:
    from engine.attention.patterns import ScoreTerms
    from engine.network.architecture import Architecture

AWAY_TASK = (
    "Take **one head** away (“Take a part away”) so that the answer is at least 0.3 bits off. The "
    "sweep over all heads shows where to look."
)


def show(
    shape: Architecture, terms: ScoreTerms, *, tokens: int, place: tuple[int, int, int, int]
) -> None:
    """Write the formula, the chosen cell as its sum, the shapes and the limits.

    Args:
        shape: the model's sizes.
        terms: of the chosen cell.
        tokens: T, of the prompt.
        place: layer, head, query and key of the cell.
    """
    layer, head, query, read = place
    formulas(
        r"\mathrm{pattern} = \mathrm{softmax}\!\left("
        + _score_latex(terms)
        + r" + \mathrm{mask}\right)",
        r"\mathrm{head} = \mathrm{pattern}\; v, \qquad "
        r"\mathrm{attn\_out} = \mathrm{concat}(\mathrm{heads})\, W_O",
    )
    st.markdown(
        f"**With your numbers** (layer {layer}, head {head}, token {query + 1} reads token "
        f"{read + 1}): {sum_in_words(terms)}."
    )
    _kinds()
    _shapes_and_limits(shape, tokens)


def _score_latex(terms: ScoreTerms) -> str:
    """Return the score of this model, for LaTeX: its own divisor, and its cap if it has one."""
    score = rf"\frac{{q\,k^\top}}{{{divisor_latex(terms.scale, len(terms.q))}}}"
    if terms.softcap is None:
        return score
    return rf"c\tanh\!\left(\frac{{1}}{{c}}{score}\right)"


def _kinds() -> None:
    """Write how heads are told apart, with the thresholds."""
    listed = "; ".join(
        f"**{kind.name.lower()}**: on average at least {percent(kind.threshold)} on "
        f"{kind.definition}"
        for kind in KINDS
    )
    st.markdown(
        "**Kinds of heads.** For each head we ask: of all its looking, how much goes to, say, the "
        "token just before? The average over this prompt is its score, and from a threshold on we "
        f"give it the name. {listed}. These are rules of thumb for finding heads to look at; on "
        "another prompt the same head may do something else. The induction score is after the "
        "idea of Olsson et al. (2022), who measure it on repeated random tokens."
    )


def _shapes_and_limits(shape: Architecture, tokens: int) -> None:
    """Write what the numbers are, what large models do, and what the view does not show."""
    group = shape.heads // shape.kv_heads
    st.markdown(
        f"""
**Shapes.** Each of the T = {tokens} tokens has a vector of D = {shape.width} numbers. Three
matrices read it: W_Q gives {shape.heads} queries of K = {shape.head_size} numbers, W_K and W_V give
{shape.kv_heads} keys and {shape.kv_heads} values. Scores and pattern are {tokens} × {tokens} for
each of the {shape.heads} heads of each of the {shape.layers} layers:
{shape.layers * shape.heads * tokens * tokens:,} shares for this prompt. What the heads read is put
side by side ({shape.heads} × {shape.head_size} = {shape.heads * shape.head_size} numbers) and W_O
turns it into the {shape.width} numbers that are added to the residual stream.

**Sharing.** Query head h reads key/value head h // {group}: {shape.heads} query heads share
{shape.kv_heads}. This is called {_sharing(shape.heads, shape.kv_heads)}.

**Why the first token gets so much.** The softmax has to give all of its 100 % to something. A head
that finds nothing to read on this token puts the rest on a place that does no harm: the first
token, whose value vectors are short, so what is read there adds little (an attention sink). The
picture is real, and it hides the rest; leave the first token out to see that.

**Why keys and values can be kept.** The causal mask lets no token read what comes later. So the
vectors of a token, and with them its keys and values in every layer, are the same whatever is
written after it. The KV cache keeps them, and each new token computes only its own.

**Large models** do the same with more: 30 to 126 layers, 32 to 128 query heads that share often 8
key and value heads, often K = 128, contexts of 128,000 tokens and more. Some let part of their
layers read only a window of the last few thousand tokens.

**What this does not show.** A pattern says where a head reads, not why, nor how much that matters
for the answer: a head may read a token with 90 % and take a short vector from it. Take the head
away to see what it changes. And no head works alone: what it reads are the vectors that all
layers below have written.
"""
    )


def _sharing(heads: int, kv_heads: int) -> str:
    if heads == kv_heads:
        return "multi-head attention: nothing is shared"
    if kv_heads == 1:
        return "multi-query attention (MQA)"
    return "grouped-query attention (GQA)"


def tasks(
    pattern: Array, token: int, shares: Mapping[str, float], *, place: tuple[int, int]
) -> list[Task]:
    """Return text, whether it is done, and where it stands.

    Args:
        pattern: the chosen head's, `[T, S]`.
        token: the chosen query.
        shares: of the chosen head, by kind.
        place: the chosen layer and head.
    """
    layer, head = place
    here = f"Layer {layer}, head {head}"
    row = pattern[token]
    last = float(row[token])
    return [
        Task(
            "Find a head that looks **one token back** with at least 60 % of its attention. Its "
            "pattern is a line beside the diagonal.",
            shares["previous"] >= 0.6,
            f"{here}: {percent(shares['previous'])} one token back.",
            "“Find the head” under “All heads” lists the strongest of this kind.",
            {keys.ATTENTION_PART: "All heads"},
        ),
        Task(
            "Choose the example “Copying from before” and find an **induction head**: at least "
            "50 % on what followed the same token before.",
            shares["induction"] >= 0.5,
            f"{here}: {percent(shares['induction'])} on what followed.",
            "It needs a text that repeats itself. Then “Find the head” has a button for this kind.",
            {keys.ATTENTION_PART: "All heads"},
        ),
        Task(
            "Find a token (not the first) that reads **itself** with more than half of its "
            "attention.",
            token > 0 and last > 0.5,
            f"{here}: token {token + 1} reads itself with {percent(last)}.",
            "The first layers have such heads. Try layer 0, head by head, and click other tokens.",
            {keys.ATTENTION_PART: "One head"},
        ),
    ]
