"""The steps of one head, each as a matrix: from query and key to what the head adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit.arrays import Array
from components.kit.figure import token_labels
from components.kit.heatmap import heatmap
from components.kit.layout import side_by_side
from components.kit.model_words import pair_words, scale_words
from components.kit.show import chart
from components.kit.vector_strip import robust_limit
from components.link import keys, widgets

if TYPE_CHECKING:
    from engine.attention.head_steps import HeadSteps
    from engine.embedding.rope import RotatedPairs


@dataclass(frozen=True)
class Step:
    """One step: which matrices it shows and what it does."""

    name: str
    fields: tuple[str, ...]
    """Names of `HeadSteps`."""
    words: str
    """Of this project's own; `{order}`, `{pair}` and `{scale}` stand for what this model does."""


STEPS: tuple[Step, ...] = (
    Step(
        "q and k",
        ("q_raw", "k_raw"),
        "Two matrices of this layer make a query (Q) and a key (K) of every token's vector: what "
        "it asks for, and what it offers.{order}",
    ),
    Step(
        "position (RoPE)",
        ("q", "k"),
        "RoPE turns each pair of numbers{pair} by an angle that grows with the position, so that a "
        "product of query and key depends on how far apart the two tokens are.",
    ),
    Step(
        "q·k",
        ("dots",),
        "Every query is multiplied with every key: one number per pair, large where the key offers "
        "what the query asks for. Later tokens are compared too; nothing is hidden yet.",
    ),
    Step(
        "scale",
        ("scaled",),
        "{scale} Undivided large sums would make the softmax put nearly everything on one token.",
    ),
    Step(
        "causal mask",
        ("masked",),
        "What comes later is hidden: its score becomes −∞. So a token can read itself and what "
        "stands before it, and nothing else. That is why a KV cache works: a later token never "
        "changes the keys and values of earlier ones, so these can be kept.",
    ),
    Step(
        "softmax",
        ("pattern",),
        "e to the score, divided by the row's sum: shares that sum to 1 in every row.",
    ),
    Step(
        "read v",
        ("v", "mixed"),
        "Each token hands over a value (V). What a token reads is the sum of these values, each "
        "times its share: pattern @ v.",
    ),
    Step(
        "output",
        ("output",),
        "The head's own rows of W_O turn the K numbers that it has read into a vector of D numbers."
        " All heads' vectors are added up: that is what attention adds to the residual stream.",
    ),
)

_TITLES: Mapping[str, str] = {
    "q_raw": "Q before position",
    "k_raw": "K before position",
    "q": "Q with position",
    "k": "K with position",
    "dots": "q·k of every pair",
    "scaled": "Scores: q·k, scaled",
    "masked": "Scores, with the future hidden",
    "pattern": "Pattern: shares of attention",
    "v": "V: what each token hands over",
    "mixed": "What each token has read: pattern @ v",
    "output": "What the head adds to each token",
}

_ORDER = (
    " Nothing in their product says yet how far apart two tokens are. (From the second layer on "
    "the vectors themselves carry traces of the order.)"
)
SQUARE = frozenset({"dots", "scaled", "masked", "pattern"})
WRITTEN = 8
"""The most tokens whose matrix has its numbers in the cells."""
COLUMNS = 64
"""The most numbers of a vector that are drawn side by side."""


def steps_of(positions: str) -> tuple[Step, ...]:
    """Return the steps of a model; only RoPE turns queries and keys."""
    return tuple(s for s in STEPS if positions == "rope" or s.fields != ("q", "k"))


def choose_step(positions: str) -> Step:
    """Draw the row of steps and return the chosen one."""
    steps = steps_of(positions)
    names = [f"{number}. {step.name}" for number, step in enumerate(steps, 1)]
    chosen = widgets.choice("Step", names, key=keys.ATTENTION_STEP, label_visibility="collapsed")
    return steps[names.index(chosen)]


def words_of(step: Step, run: HeadSteps, rotated: RotatedPairs | None) -> str:
    """Say what a step does in this model.

    Args:
        step: the step.
        run: the head's steps.
        rotated: which numbers RoPE turns together; None without RoPE.
    """
    pair = "" if rotated is None else pair_words(rotated.pairing, rotated.count)
    scale = scale_words(run.scale, run.q.shape[-1])
    if run.softcap is not None:
        scale += f" Then c·tanh(score/c) keeps every score between ±c = {run.softcap:g} (soft cap)."
    order = "" if rotated is None else _ORDER
    return step.words.format(order=order, pair=f" ({pair})" if pair else "", scale=scale)


def show_step(
    step: Step,
    run: HeadSteps,
    pieces: Sequence[bytes],
    token: int,
    rotated: RotatedPairs | None,
) -> None:
    """Draw a step's matrices and say what it does.

    Args:
        step: the chosen step.
        run: the head's steps.
        pieces: the tokens' bytes.
        token: the chosen token, whose row is spelled out.
        rotated: which numbers RoPE turns together; None without RoPE.
    """
    st.markdown(words_of(step, run, rotated))
    columns = side_by_side(*(1 for _ in step.fields))
    for column, name in zip(columns, step.fields, strict=True):
        with column:
            chart(
                step_figure(name, run, pieces),
                key=f"step_{name}",
                alt=f"{_TITLES[name]}, layer {run.layer}, head {run.head}",
            )
    st.caption(check(step, run, token))


def step_figure(name: str, run: HeadSteps, pieces: Sequence[bytes]) -> go.Figure:
    """Draw one matrix of a step.

    Args:
        name: a field of `HeadSteps`.
        run: the head's steps.
        pieces: the tokens' bytes.
    """
    values = np.asarray(getattr(run, name))
    labels = token_labels(pieces)
    square = name in SQUARE
    shown = values if square else values[:, :COLUMNS]
    if name == "pattern":
        shown = np.where(np.isfinite(run.masked), shown, np.nan)
    shown = np.where(np.isfinite(shown), shown, np.nan)
    # Steps 3 and 4 share their colours, so that it is seen that the scaled scores are smaller.
    limit = robust_limit(np.asarray(run.dots) if name == "scaled" else shown)
    more = "" if square or shown.shape[1] == values.shape[1] else f" (first {COLUMNS} numbers)"
    return heatmap(
        shown,
        labels,
        labels if square else [str(i) for i in range(shown.shape[1])],
        title=f"{_TITLES[name]} [{values.shape[0]} × {values.shape[1]}]{more}",
        key=f"step_{name}",
        low=0.0 if name == "pattern" else -limit,
        high=1.0 if name == "pattern" else limit,
        row_name="token",
        col_name="reads" if square else "number",
        value_name="value",
        height=int(np.clip(150 + 26 * len(labels), 300, 520)),
        texts=_numbers(values) if square and len(labels) <= WRITTEN else None,
    )


def _numbers(values: Array) -> list[list[str]]:
    """Return the numbers as they stand in the cells; what the mask hides is −∞."""
    return [[f"{value:.2f}" if np.isfinite(value) else "−∞" for value in row] for row in values]


def check(step: Step, run: HeadSteps, token: int) -> str:
    """Write what holds at this step, with its numbers."""
    row = slice(None, token + 1)
    if step.fields == ("pattern",):
        sums = run.pattern.sum(axis=-1)
        return (
            f"Every row sums to 1: here from {sums.min():.6f} to {sums.max():.6f}. Above the "
            f"diagonal everything is exactly 0. Token {token + 1}: "
            + " + ".join(f"{share:.3f}" for share in run.pattern[token][row][:8])
            + (" + …" if token >= 8 else "")
            + f" = {run.pattern[token].sum():.4f}."
        )
    if step.fields == ("q", "k"):
        return (
            f"Turning changes no length: token {token + 1}'s query has length "
            f"{np.linalg.norm(run.q_raw[token]):.3f} before and {np.linalg.norm(run.q[token]):.3f} "
            "after. At the first token nothing is turned."
        )
    if step.fields == ("scaled",):
        dot, score = run.dots[token, token], run.scaled[token, token]
        capped = "" if run.softcap is None else f", capped to {score:.2f}"
        return (
            f"Token {token + 1} with itself: {dot:.2f} × {run.scale:.4g} = {dot * run.scale:.2f}"
            f"{capped}."
        )
    if step.fields == ("v", "mixed"):
        return (
            f"All query heads of this group read the values of key/value head {run.kv_head}. "
            f"What token {token + 1} has read has length {np.linalg.norm(run.mixed[token]):.2f}."
        )
    if step.fields == ("output",):
        return (
            f"For token {token + 1} the head adds a vector of length "
            f"{np.linalg.norm(run.output[token]):.2f}."
        )
    return f"Layer {run.layer}, head {run.head}, key/value head {run.kv_head}."
