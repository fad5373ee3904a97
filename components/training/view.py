"""Training: coloured losses, curves of learning, and what the steps did, from plain results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit import theme
from components.kit.figure import share_format
from components.kit.layout import side_by_side
from components.kit.lines import lines
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import counted, html, readable, visible

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.training.preference import PreferenceStep
    from engine.training.sentence import LearnStep

STRONGEST = 14.0
"""Bits of surprise that get the strongest colour."""


def loss_text(pieces: Sequence[bytes], bits: Sequence[float] | Array) -> str:
    """Return the text as HTML, each token the darker the more it surprised the model.

    Args:
        pieces: bytes of all tokens.
        bits: the surprise of the tokens from the second on.
    """
    first = f"<span title='the first token is given'>{html(visible(pieces[0]))}</span>"
    parts = [first]
    for piece, value in zip(pieces[1:], bits, strict=True):
        share = min(1.0, float(value) / STRONGEST)
        colour = theme.with_alpha(theme.NEGATIVE, 0.05 + 0.75 * share)
        parts.append(
            f'<span style="background:{colour};border-radius:4px;padding:2px 1px;'
            f'margin-left:2px" title="{float(value):.2f} bits">{html(visible(piece))}'
            f'<sub style="opacity:0.8;margin-left:2px">{float(value):.1f}</sub></span>'
        )
    return (
        '<div style="font-size:1.15rem;line-height:2.4;overflow-wrap:anywhere" '
        f'aria-label="Text with the loss of each token">{"".join(parts)}</div>'
    )


def loss_metrics(mean_nats: float, perplexity: float, total_bits: float, tokens: int) -> None:
    """Draw the loss of the whole text."""
    with st.container(horizontal=True, key="loss_metrics"):
        st.metric("Mean loss, −ln p", f"{mean_nats:.3f}")
        st.metric("Bits per token", f"{total_bits / tokens:.2f}")
        st.metric("Perplexity", f"{perplexity:,.1f}")
        st.metric("Bits for the whole text", f"{total_bits:.0f}")


def learn_title(names: Sequence[str], steps: Sequence[LearnStep]) -> str:
    """Return what the competing answers did; the first name is the answer that is taught."""
    first, last = steps[0].competing[0], steps[-1].competing[0]
    count = steps[-1].step
    title = f"{names[0]} {percent(first)} → {percent(last)} in {counted(count, 'step')}"
    best = max(range(len(names)), key=lambda i: steps[0].competing[i])
    overtaken = next((s.step for s in steps if s.competing[0] > s.competing[best]), None)
    if best and overtaken:
        title += f"; passes {names[best]} at step {overtaken}"
    return title


def learn_curves(names: Sequence[str], steps: Sequence[LearnStep], *, key: str) -> None:
    """Draw the probabilities of the competing answers and the loss, by step."""
    title = learn_title(names, steps)
    series = {name: [s.competing[i] for s in steps] for i, name in enumerate(names)}
    left, right = side_by_side(1, 1)
    with left:
        figure = lines(series, title=title, key=key, x_title="step", y_title="probability")
        figure.update_yaxes(range=[0, 1.02], tickformat=share_format())
        chart(figure, key=f"{key}_answers", alt=title)
    with right:
        losses = [s.loss for s in steps]
        title = f"The sentence's loss falls from {losses[0]:.2f} to {losses[-1]:.2f}"
        figure = lines({"loss": losses}, title=title, key=key, x_title="step", y_title="−ln p")
        chart(figure, key=f"{key}_loss", alt=title)


def facts_table(names: Sequence[tuple[str, str]], steps: Sequence[LearnStep]) -> None:
    """Draw what the steps did to other facts: (prompt, answer), before and after."""
    first, last = steps[0].facts, steps[-1].facts
    st.dataframe(
        {
            "other fact": [name for name, _ in names],
            "answer": [answer for _, answer in names],
            "before": [percent(share) for share in first],
            "after": [percent(share) for share in last],
            "change, points": [f"{100 * (b - a):+.1f}" for a, b in zip(first, last, strict=True)],
        },
        hide_index=True,
        width="stretch",
        key="facts_table",
    )


def preference_title(steps: Sequence[PreferenceStep]) -> str:
    """Return what the preference did."""
    first, last = steps[0], steps[-1]
    more = (last.chosen - last.rejected) - (first.chosen - first.rejected)
    return (
        f"In {counted(last.step, 'step')} the preferred answer becomes {times(more)} as likely, "
        "measured against the other one"
    )


def times(nats: float) -> str:
    """Write e to some power as a factor in words: “1,480 times”, “over a million times”."""
    if nats > math.log(1e6):
        return "over a million times"
    factor = math.exp(nats)
    return f"{factor:,.0f} times" if factor >= 10 else f"{factor:.2g} times"


def preference_curves(steps: Sequence[PreferenceStep], *, key: str) -> None:
    """Draw the log-probabilities of both answers, the margin and the distance from the start."""
    title = preference_title(steps)
    left, right = side_by_side(1, 1)
    with left:
        series = {
            "the preferred answer": [s.chosen for s in steps],
            "the other answer": [s.rejected for s in steps],
        }
        figure = lines(
            series, title=title, key=key, x_title="step", y_title="ln p of the whole answer"
        )
        chart(figure, key=f"{key}_answers", alt=title)
    with right:
        series = {
            "margin: how far it prefers": [s.margin for s in steps],
            "KL: how much else moved": [s.divergence for s in steps],
            "loss": [s.loss for s in steps],
        }
        title = f"Margin {steps[-1].margin:.2f}, KL {steps[-1].divergence:.3f}"
        figure = lines(series, title=title, key=key, x_title="step")
        chart(figure, key=f"{key}_margin", alt=title)


def next_table(names: Sequence[str], before: Sequence[float], after: Sequence[float]) -> None:
    """Draw the distribution after the prompt before and (if there is one) after training."""
    columns = {
        "next token": list(names),
        "before": [percent(share) for share in before],
    }
    if after:
        columns["after"] = [percent(share) for share in after]
    st.dataframe(
        columns,
        hide_index=True,
        width="stretch",
        key="next_table",
    )


def tiny_curve(losses: Mapping[int, float], chance: float, *, key: str) -> None:
    """Draw the loss of the tiny transformer by step."""
    steps, values = list(losses), list(losses.values())
    title = f"Loss {values[0]:.2f} → {values[-1]:.2f} (chance: {chance:.2f})"
    figure = lines(
        {"loss": values}, title=title, key=key, x_title="step", y_title="−ln p", positions=steps
    )
    figure.update_traces(mode="lines")
    chart(figure, key=f"{key}_curve", alt=title)


def tiny_title(losses: Mapping[int, float]) -> str:
    """Return what the training from nothing did."""
    steps = list(losses)
    return (
        f"From noise to rhymes: random numbers, moved a little {steps[-1]:,} times, write like the "
        "text that they saw"
    )


def tiny_result(
    losses: Mapping[int, float], samples: Mapping[int, str], chance: float, *, key: str
) -> None:
    """Draw what the tiny transformer writes after some steps, and under it its loss."""
    st.markdown(f"#### {tiny_title(losses)}")
    st.html(samples_html(samples))
    tiny_curve(losses, chance, key=key)


def samples_html(samples: Mapping[int, str]) -> str:
    """Return what the tiny transformer wrote after some steps, side by side, as HTML."""
    cards = "".join(
        f'<div style="flex:1 1 200px;min-width:0"><b>after {counted(step, "step")}</b>'
        '<div style="font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere;'
        f'border-left:3px solid {theme.ACCENT};padding-left:10px">{_lines(text)}</div></div>'
        for step, text in samples.items()
    )
    return (
        '<div aria-label="What it writes" style="display:flex;flex-wrap:wrap;gap:12px 20px">'
        f"{cards}</div>"
    )


def _lines(text: str) -> str:
    """Return a text line by line, everything else that can't be seen made visible."""
    lines = text.split("\n")
    return "<br>".join(html(readable(line)) for line in lines)
