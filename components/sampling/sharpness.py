"""Sharpness is not accuracy: three curves over the temperature, from many facts."""

from __future__ import annotations

import json
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.figure import frame, packed, share_format
from components.kit.numbers import PERCENT_COLUMN, percent
from components.kit.show import chart
from components.kit.text import visible
from engine.sampling.sharpness import Sharpness

RECORDING = Path(__file__).parent / "sharpness.json"


@st.cache_data(show_spinner=False)
def recorded() -> Sharpness:
    """Return the result that `scripts/record_sharpness.py` kept."""
    return Sharpness.from_json(json.loads(RECORDING.read_text(encoding="utf-8")))


def sharpness_chart(result: Sharpness) -> None:
    """Draw sharpness, greedy accuracy and sampled accuracy over the temperature."""
    right = result.greedy_right
    cold, hot = result.mean_top[0], result.mean_top[-1]
    title = (
        f"As T falls, the top token's mean probability goes from {percent(hot)} to "
        f"{percent(cold)}; greedy stays right in {percent(right)}"
    )
    figure = frame(title, height=430, revision="sharpness")
    curves = (
        ("mean probability of the top token", result.mean_top, theme.ACCENT, "solid"),
        (
            "greedy answers that are right",
            (right,) * len(result.temperatures),
            theme.PICKED,
            "dash",
        ),
        ("sampled answers that are right", result.sampled_right, theme.CATEGORICAL[6], "dot"),
    )
    for name, values, colour, dash in curves:
        figure.add_trace(
            go.Scatter(
                x=packed(result.temperatures),
                y=packed(values),
                name=name,
                mode="lines",
                line={"color": colour, "width": 4, "dash": dash},
                hovertemplate=f"T = %{{x:.1f}}<br>{name}: %{{y:{share_format(1)}}}<extra></extra>",
            )
        )
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.2, "yanchor": "top"})
    figure.update_yaxes(range=[0, 1.05], tickformat=share_format(), title="")
    figure.update_xaxes(title="temperature", showgrid=False)
    chart(figure, key="sharpness", alt=title)


def fact_table(result: Sharpness) -> None:
    """Show every fact: what is right, what greedy says, and how likely the right answer is."""
    at_one = min(
        range(len(result.temperatures)), key=lambda place: abs(result.temperatures[place] - 1)
    )
    st.dataframe(
        {
            "prompt": [entry.prompt for entry in result.results],
            "right": [visible(entry.right) for entry in result.results],
            "greedy says": [visible(entry.greedy) for entry in result.results],
            "right?": [entry.is_right for entry in result.results],
            "p of greedy's, T = 1": [100 * entry.top[at_one] for entry in result.results],
            "p of the right one, T = 1": [
                100 * entry.right_probability[at_one] for entry in result.results
            ],
        },
        hide_index=True,
        width="stretch",
        key="facts_table",
        column_config={
            name: st.column_config.NumberColumn(format=PERCENT_COLUMN)
            for name in ("p of greedy's, T = 1", "p of the right one, T = 1")
        },
    )


def sharpness_words(result: Sharpness) -> None:
    """Say what the curves mean."""
    wrong = len(result.results) - round(result.greedy_right * len(result.results))
    st.markdown(
        f"**{len(result.results)} prompts**, each with one right next token. Temperature only "
        "scales what the model has: towards T = 0 it becomes certain of whatever leads, right or "
        f"wrong. It leads with something else in {wrong} of them, and there every cold answer is "
        "wrong with certainty: for “The capital of Australia is” that is Sydney. “Right” counts "
        "one token, so another sensible way to go on (“the …”) counts as wrong here."
    )
