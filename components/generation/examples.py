"""Prompts whose answers show the detokenizer at work: one press sets prompt and settings."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components.link import keys


@dataclass(frozen=True)
class ExampleAnswer:
    """A prompt and a stop string with which the default model shows something."""

    name: str
    prompt: str
    stop: str = ""


EXAMPLE_ANSWERS: tuple[ExampleAnswer, ...] = (
    ExampleAnswer("Emoji of three tokens each", "🎉🎊🎉🎊🎉🎊"),
    ExampleAnswer("Chinese", "北京是中国的首都。北京是中国的"),
    ExampleAnswer(
        "A stop string across tokens", "one, two, three, four, one, two, three,", "e, te"
    ),
)


def example_buttons() -> None:
    """Draw one button an example. It sets the sidebar; Write then starts the run."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Examples:", width="content")
        for number, example in enumerate(EXAMPLE_ANSWERS):
            st.button(example.name, key=f"example_{number}", on_click=_use, args=(example,))


def _use(example: ExampleAnswer) -> None:
    """Put the example into the shared controls; greedy, since it shows the same to everybody."""
    st.session_state.update(
        {
            keys.PROMPT: example.prompt,
            keys.CHAT: False,
            keys.STOP: example.stop,
            keys.TEMPERATURE: 0.0,
            keys.MAX_NEW_TOKENS: 14,
        }
    )
