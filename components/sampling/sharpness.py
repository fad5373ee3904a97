"""Sharpness is not accuracy: what cold does to right and to wrong answers, from many facts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.figure import frame, packed, share_format
from components.kit.layout import FULL
from components.kit.numbers import PERCENT_COLUMN, percent
from components.kit.show import chart
from components.kit.text import plotly as escape
from components.kit.text import visible
from engine.sampling.sharpness import FactResult, Sharpness

RECORDING = Path(__file__).parent / "sharpness.json"


@st.cache_data(show_spinner=False)
def recorded() -> Sharpness:
    """Return the result that `scripts/record_sharpness.py` kept."""
    return Sharpness.from_json(json.loads(RECORDING.read_text(encoding="utf-8")))


def groups_chart(result: Sharpness) -> None:
    """Draw how often a draw is right, apart for what greedy gets right and what it gets wrong."""
    figure = frame(groups_title(result), height=400, revision="sharpness")
    right = round(result.greedy_right * len(result.results))
    groups = (
        (f"{right} facts: likeliest token right", True, theme.ACCENT),
        (f"{len(result.results) - right} facts: likeliest token wrong", False, theme.NEGATIVE),
    )
    for name, is_right, colour in groups:
        values = result.sampled_right_where(is_right)
        if values:
            figure.add_trace(_curve(result, name, values, colour))
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.2, "yanchor": "top"})
    figure.update_yaxes(range=[0, 1.05], tickformat=share_format(), title="draws that are right")
    figure.update_xaxes(title="temperature", showgrid=False)
    chart(figure, key="sharpness", alt=groups_title(result))


def groups_title(result: Sharpness) -> str:
    """Say what cold does to both groups."""
    at_one = result.at(1)
    right, wrong = (
        f"{percent(values[at_one])} of draws are right at T = 1, {percent(values[0])} at 0"
        if (values := result.sampled_right_where(group))
        else "none here"
        for group in (True, False)
    )
    return f"Likeliest token right: {right}. Wrong: {wrong}"


def _curve(result: Sharpness, name: str, values: Sequence[float], colour: str) -> go.Scatter:
    return go.Scatter(
        x=packed(result.temperatures),
        y=packed(values),
        name=name,
        mode="lines",
        line={"color": colour, "width": 4},
        hovertemplate=f"T = %{{x:.1f}}<br>{escape(name)}: %{{y:{share_format(1)}}}<extra></extra>",
    )


def example_chart(result: Sharpness) -> None:
    """Draw one fact that the model gets wrong: the wrong answer and the right one over T."""
    entry = example(result)
    if entry is None:
        return
    place = result.at(1)
    share = percent(entry.right_probability[place])
    title = (
        f"“{entry.prompt}”: at T = 0 always {visible(entry.greedy)}; the right "
        f"{visible(entry.right)} had {share} at T = 1"
    )
    figure = frame(title, height=400, revision="example")
    wrong, right = f"{visible(entry.greedy)} (wrong)", f"{visible(entry.right)} (right)"
    figure.add_trace(_curve(result, wrong, entry.top, theme.NEGATIVE))
    figure.add_trace(_curve(result, right, entry.right_probability, theme.ACCENT))
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.2, "yanchor": "top"})
    figure.update_yaxes(range=[0, 1.05], tickformat=share_format(), title="probability")
    figure.update_xaxes(title="temperature", showgrid=False)
    chart(figure, key="fact_example", alt=title)


EXAMPLE = "The capital of Australia is"


def example(result: Sharpness) -> FactResult | None:
    """Return a fact with a wrong likeliest token: `EXAMPLE` if it is one, or else a close call."""
    place = result.at(1)
    wrong = [entry for entry in result.results if not entry.is_right]
    return max(
        wrong,
        key=lambda entry: (entry.prompt == EXAMPLE, entry.right_probability[place]),
        default=None,
    )


def calibration_chart(result: Sharpness) -> None:
    """Draw how many facts are right and wrong, by how probable the likeliest token was."""
    bins = [entry for entry in result.calibration() if entry.count]
    names = [f"{percent(entry.low)} to {percent(entry.high)}" for entry in bins]
    figure = frame(calibration_title(result), height=330, revision="calibration", barmode="stack")
    right = [entry.right for entry in bins]
    wrong = [entry.count - entry.right for entry in bins]
    for name, counts, colour in (
        ("right", right, theme.ACCENT),
        ("wrong", wrong, theme.NEGATIVE),
    ):
        figure.add_trace(
            go.Bar(
                x=list(range(len(bins))),
                y=counts,
                name=name,
                marker={"color": colour},
                text=[str(count) if count else "" for count in counts],
                textposition="inside",
                textfont={"size": 14, "color": "#ffffff"},
                hovertemplate=f"%{{y}} {name}<extra></extra>",
            )
        )
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.2, "yanchor": "top"})
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(bins))),
        ticktext=[escape(name) for name in names],
        range=[-0.5, len(bins) - 0.5],
        title="probability of the likeliest token at T = 1",
        showgrid=False,
    )
    figure.update_yaxes(title="facts")
    chart(figure, key="calibration", alt=calibration_title(result), room=FULL)


def calibration_title(result: Sharpness) -> str:
    """Say how often the likeliest token is right where it is sure, and where it is not."""
    bins = [entry for entry in result.calibration() if entry.count]
    if not bins:
        return "No fact was asked"
    low, high = bins[0], bins[-1]
    return (
        f"A hint, not a proof: above {percent(high.low)} the likeliest token was right in "
        f"{high.right} of {high.count}, under {percent(low.high)} in {low.right} of {low.count}"
    )


def fact_table(result: Sharpness) -> None:
    """Show every fact: what is right, what greedy says, and how likely the right answer is."""
    at_one = result.at(1)
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
    total = len(result.results)
    right = round(result.greedy_right * total)
    at_one, all_draws = result.at(1), result.sampled_right
    st.markdown(
        f"**Temperature changes how sharp the model is, and no knowledge.** {total} prompts, each "
        f"with one right next token. The likeliest token is right in {right} of them at every "
        f"temperature: that is the ceiling. A colder draw gets nearer to it "
        f"({percent(all_draws[at_one])} of all draws are right at T = 1, {percent(all_draws[0])} "
        "at T = 0), because it takes the likeliest token more often. It can't lift it: where the "
        f"likeliest token is wrong, in {total - right} of them, a cold answer is wrong with "
        "certainty."
    )
    delays = sum(not entry.is_right and entry.greedy.strip() == "the" for entry in result.results)
    if delays:
        st.caption(
            f"“Right” counts one token. In {delays} of the {total - right} the likeliest token is "
            "“the”, which may lead to the right answer later and still counts as wrong here."
        )
