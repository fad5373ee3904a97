"""Guardrails: answers, tables and the bars of what leaked, drawn from plain results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.figure import frame, packed
from components.kit.numbers import PERCENT_COLUMN
from components.kit.show import chart
from components.kit.text import html, readable, visible
from components.kit.text import plotly as escape

if TYPE_CHECKING:
    from engine.guardrails.ban import Spelling
    from engine.guardrails.batch import RowStep
    from engine.guardrails.comparison import Tally
    from engine.guardrails.filters import Seen

PLACES = """
| where a guard stands | it sees | it can stop | what leaks | what it costs |
|---|---|---|---|---|
| **before the tokenizer**: input filter | the prompt | questions with a known word | other words, \
look-alikes, other languages | no time; refuses harmless questions with that word |
| **in the prompt**: system turn | what the model reads | what the model was trained to obey | \
whatever it obeys no better than the user | a few tokens read with every answer |
| **on the logits**: ban, allow-list, format | ids, and what was written | exactly those tokens | \
the same meaning in other pieces or words | a mask a token; what is left can be worse |
| **on the sampler**: low temperature, top-p | the distribution | rare accidents | everything that \
is likely anyway | no time; less variety |
| **on the stream**: output filter | the text so far | words, once they are complete | \
other spellings; the part already shown | a delay of the held-back characters |
| **in training** | the weights, before any prompt | what was in the examples | prompts unlike the \
examples | the most work; it changes other answers too |
"""


def answer(text: str, *, leaked: bool, note: str = "") -> str:
    """Return an answer as HTML, framed in the colour of its verdict.

    Args:
        text: what the model wrote, raw.
        leaked: whether the forbidden word can be read in it.
        note: a verdict of this project's own words.
    """
    colour = theme.NEGATIVE if leaked else theme.POSITIVE
    shown = html(readable(text)) if text else "<i>no text</i>"
    return (
        f'<div style="border-left:4px solid {colour};padding:6px 12px;min-height:4.6em;'
        f'background:{theme.with_alpha(colour, 0.08)};overflow-wrap:anywhere">{shown}'
        f'<div style="font-size:0.85rem;opacity:0.75;margin-top:4px">{html(note)}</div></div>'
    )


def verdict(leaked: bool) -> str:
    """Return the verdict in words."""
    return "The word can be read: a leak." if leaked else "The word is not there."


def wordings_table(rows: Sequence[tuple[str, str, bool, bool]]) -> None:
    """Draw which wordings get through.

    Args:
        rows: what was done, the text, whether the plain and the normalising filter stop it.
    """
    through = {True: "stopped", False: "gets through"}
    st.dataframe(
        {
            "wording": [row[0] for row in rows],
            "text": [readable(row[1]) for row in rows],
            "plain filter": [through[row[2]] for row in rows],
            "after normalisation": [through[row[3]] for row in rows],
        },
        hide_index=True,
        width="stretch",
        key="wordings_table",
    )


def spellings_table(spellings: Sequence[Spelling]) -> None:
    """Draw how many tokens each spelling has, and which can be banned alone."""
    st.dataframe(
        {
            "spelling": [visible(way.text) for way in spellings],
            "ids": [" ".join(map(str, way.ids)) for way in spellings],
            "banned": [
                "yes"
                if way.can_be_banned
                else f"no: {len(way.ids)} tokens, which other words need too"
                for way in spellings
            ],
        },
        hide_index=True,
        width="stretch",
        key="spellings_table",
    )


def mask_table(steps: Sequence[RowStep], name_of: Any, vocabulary: int) -> None:
    """Draw the mask at every step: how much it allows, and what the model wanted instead."""
    st.dataframe(
        {
            "step": list(range(1, len(steps) + 1)),
            "allowed": [step.allowed for step in steps],
            "of the model's probability, forbidden": [100 * step.forbidden_mass for step in steps],
            "the model wanted": [visible(name_of(step.wanted)) for step in steps],
            "written": [visible(name_of(step.id)) for step in steps],
            "mask, ms": [round(step.guard_milliseconds, 2) for step in steps],
        },
        column_config={
            "allowed": st.column_config.NumberColumn(f"allowed of {vocabulary:,}", format="%d"),
            "of the model's probability, forbidden": st.column_config.ProgressColumn(
                min_value=0, max_value=100, format=PERCENT_COLUMN
            ),
        },
        hide_index=True,
        width="stretch",
        key="mask_table",
    )


def hold_back_table(results: Sequence[Seen], *, key: str) -> None:
    """Draw what a reader has seen for each length of the buffer."""
    st.dataframe(
        {
            "held back": [one.hold_back for one in results],
            "on the screen": [readable(one.text) for one in results],
            "of the word": [
                "all of it"
                if one.whole_word
                else f"{one.word_part} letters"
                if one.word_part
                else "nothing"
                for one in results
            ],
        },
        hide_index=True,
        width="stretch",
        height=280,
        key=f"hold_back {key}",
    )


def leak_bars(tallies: Sequence[Tally], *, key: str = "leak_bars") -> None:
    """Draw how many runs leaked under each guard."""
    title = leak_title(tallies)
    figure = leak_figure(tallies, title)
    words = "; ".join(f"{one.guard}: {one.leaks} of {one.runs}" for one in tallies)
    chart(figure, key=key, alt=f"{title}. {words}.")


def cost_line(tallies: Sequence[Tally]) -> str:
    """Return what the guards on the logits cost, as measured."""
    measured = [one for one in tallies if one.milliseconds]
    if not measured:
        return ""
    costs = ", ".join(f"{one.guard} {one.milliseconds:.2g} ms" for one in measured)
    return f"Time for one token's guard: {costs}."


def leak_title(tallies: Sequence[Tally]) -> str:
    """Return what the bars show, from their numbers."""
    first, others = tallies[0], tallies[1:]
    title = f"Without a guard the word leaks in {first.leaks} of {first.runs} runs"
    tight = [one.guard for one in others if not one.leaks]
    if tight:
        return f"{title}; never with: {', '.join(tight)}"
    best = min(others, key=lambda one: one.leaks)
    return f"{title}, least with {best.guard}: {best.leaks}"


def leak_figure(tallies: Sequence[Tally], title: str) -> go.Figure:
    """Return the bars: leaks in one colour, runs that the guard stopped behind them in grey."""
    figure = frame(title, height=90 + 34 * len(tallies), revision="leaks", barmode="overlay")
    places = list(range(len(tallies)))
    for name, values, colour in (
        (
            "stopped by the guard",
            [one.blocked for one in tallies],
            theme.with_alpha(theme.CUT, 0.5),
        ),
        ("leaked", [one.leaks for one in tallies], theme.NEGATIVE),
    ):
        figure.add_trace(
            go.Bar(
                x=packed(values),
                y=places,
                base=0 if name == "leaked" else [one.leaks for one in tallies],
                orientation="h",
                name=name,
                marker={"color": colour},
                text=[str(value) if value else "" for value in values],
                textposition="inside",
                hovertemplate=f"%{{x}} runs {name}<extra></extra>",
            )
        )
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": -0.12, "x": 1, "xanchor": "right"},
        margin={"b": 40},
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[escape(one.guard) for one in tallies],
        range=[len(tallies) - 0.5, -0.5],
        showgrid=False,
    )
    most = max((one.runs for one in tallies), default=1) or 1
    figure.update_xaxes(range=[0, most], title="runs", fixedrange=True)
    return figure
