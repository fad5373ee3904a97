"""Texts that show the detokenizer at work, and prompts with which the model writes such texts."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components.link import keys
from components.link.changes import change


@dataclass(frozen=True)
class GivenText:
    """A text whose tokens are sent through the detokenizer one by one, without the model."""

    name: str
    text: str
    words: str
    """What to look at."""
    stop: tuple[str, ...] = ()


THIS_ANSWER = "This answer"

EXAMPLES: tuple[GivenText, ...] = (
    GivenText(
        "Emoji",
        "Happy 🎉🎊👍🏽!",
        "A given text, cut by the running model’s tokenizer: an emoji is several tokens, and "
        "nothing can be shown before the last of its bytes is there.",
    ),
    GivenText(
        "Chinese",
        "北京是中国的首都。",
        "A given text, cut by the running model’s tokenizer: a rare character is several tokens.",
    ),
    GivenText(
        "A stop string across tokens",
        "one, two, three, four, five, six, seven, eight, nine, ten",
        "A given text with the stop string “e, te”: what may be its beginning is held back.",
        ("e, te",),
    ),
)


@dataclass(frozen=True)
class ExampleAnswer:
    """A prompt and a stop string with which the default model shows something."""

    name: str
    prompt: str
    stop: str = ""


EXAMPLE_ANSWERS: tuple[ExampleAnswer, ...] = (
    ExampleAnswer("Emoji of three tokens each", "🎉🎊🎉🎊🎉🎊"),
    ExampleAnswer("Chinese text", "北京是中国的首都。北京是中国的"),
    ExampleAnswer(
        "Counting up to a stop string", "one, two, three, four, one, two, three,", "e, te"
    ),
)


def example_buttons() -> None:
    """Draw one button per example, which sets prompt and settings; then an answer is written."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Let the model write:", width="content")
        for number, example in enumerate(EXAMPLE_ANSWERS):
            st.button(example.name, key=f"example_{number}", on_click=_use, args=(example,))


def _use(example: ExampleAnswer) -> None:
    """Put the example into the shared controls; greedy, since it shows the same to everybody."""
    stop = f", stop string “{example.stop}”" if example.stop else ""
    change(
        f"{example.name}: another prompt, temperature 0, 14 tokens per run{stop}.",
        {
            keys.PROMPT: example.prompt,
            keys.CHAT: False,
            keys.STOP: example.stop,
            keys.TEMPERATURE: 0.0,
            keys.MAX_NEW_TOKENS: 14,
        },
    )
