"""All that steers the outcome, by the stage at which it does, with a link to where it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from components.link import keys
from components.shell.stages import stage


@dataclass(frozen=True)
class Control:
    """One way to steer."""

    name: str
    does: str
    page: str
    """The key of the stage where it is tried."""
    link: Mapping[str, str] = field(default_factory=dict)
    """What opens there."""


_CHAIN: Mapping[str, str] = {keys.SAMPLING_PART: "The chain"}

CONTROLS: Mapping[str, tuple[Control, ...]] = {
    "On the prompt": (
        Control(
            "Input filter",
            "refuses a question by its words",
            "guardrails",
            {keys.GUARD: "Input filter"},
        ),
        Control(
            "System turn and chat template",
            "puts words before the user's",
            "guardrails",
            {keys.GUARD: "Special tokens"},
        ),
    ),
    "On the scores (logits)": (
        Control("Temperature", "stretches or shrinks all distances", "sampling", _CHAIN),
        Control("Penalties", "lower what is in the text already", "sampling", _CHAIN),
        Control("Bias", "adds a number to the scores you name", "sampling", _CHAIN),
        Control(
            "Ban",
            "takes tokens away: minus infinity",
            "guardrails",
            {keys.GUARD: "Logit ban"},
        ),
        Control(
            "Format",
            "allows only what fits a grammar",
            "guardrails",
            {keys.GUARD: "Format"},
        ),
    ),
    "On the candidates that are left": (
        Control("Top-k", "keeps the k likeliest", "sampling", _CHAIN),
        Control("Top-p", "keeps the fewest that reach a share", "sampling", _CHAIN),
        Control("Min-p", "keeps what is near enough to the top", "sampling", _CHAIN),
        Control("Typical", "keeps what surprises about as usual", "sampling", _CHAIN),
    ),
    "In choosing": (
        Control("Greedy", "always takes the top: temperature 0", "sampling", _CHAIN),
        Control("Sampling", "draws by the probabilities", "sampling", {keys.SAMPLING_PART: "Draw"}),
        Control(
            "Beam search",
            "keeps several texts and the likeliest of them",
            "sampling",
            {keys.SAMPLING_PART: "Beam search"},
        ),
    ),
    "On the way to the screen": (
        Control("Stop strings and budget", "end the answer", "generation"),
        Control(
            "Output filter",
            "stops the answer at a word",
            "guardrails",
            {keys.GUARD: "Output filter"},
        ),
    ),
    "In training": (
        Control(
            "More text",
            "makes such text likelier",
            "training",
            {keys.LESSON: "One step of learning"},
        ),
        Control(
            "Preference tuning",
            "makes one answer likelier than another",
            "training",
            {keys.LESSON: "Preference"},
        ),
    ),
}
"""By the stage at which they work, from the prompt on; training comes before all of them."""


def controls_table() -> None:
    """Draw the controls in groups, each with its link."""
    grid = st.grid(3, min_column_width=280, gap="small")
    for group, controls in CONTROLS.items():
        with grid.cell(), st.container(border=True):
            st.markdown(f"**{group}**")
            for control in controls:
                with st.container(gap=None):
                    st.page_link(
                        stage(control.page).page, label=control.name, query_params=control.link
                    )
                    st.caption(control.does)
