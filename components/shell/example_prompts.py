"""Prompts worth showing, named for what they show, each with a line on what to look at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """A prompt and what a class can see with it."""

    name: str
    prompt: str
    see: str
    """What to look at, of the default model."""
    chat: bool = False
    """Whether it is sent as a chat turn."""


PRESETS: tuple[Preset, ...] = (
    Preset(
        "Many ways to go on",
        "She poured herself a cup of",
        "Eleven words can be drawn, and each tells another story. Change the seed.",
    ),
    Preset(
        "A question, as a chat asks it",
        "Why is the sky blue?",
        "An answer comes; most of the tokens are ones that nobody typed.",
        chat=True,
    ),
    Preset(
        "The same question as plain text",
        "Why is the sky blue?",
        "The end token leads: the model goes on with a text, it does not answer.",
    ),
    Preset("A fact it gets right", "The capital of France is", "One word leads by far: Paris."),
    Preset(
        "The same fact asked backwards",
        "Paris is the capital of",
        "France is not on top: no list of facts is looked up.",
    ),
    Preset(
        "A fact it gets wrong",
        "The capital of Australia is",
        "Sydney leads, Canberra is close behind. Then ask it as a chat question.",
    ),
    Preset(
        "Right examples, wrong answer",
        "The capital of Germany is Berlin. The capital of Australia is",
        "A right example makes it surer of the wrong answer.",
    ),
    Preset(
        "A hint in the prompt",
        "Canberra is in Australia. The capital of Australia is",
        "Now Canberra leads by far, and nothing was trained.",
    ),
    Preset(
        "Sure and wrong",
        "The sun revolves around the",
        "Earth: a high probability is a hint and no proof.",
    ),
    Preset(
        "A false question",
        "Why is the sky green?",
        "Does it object? Try several seeds.",
        chat=True,
    ),
    Preset(
        "Almost certain",
        "The first man on the moon was Neil",
        "Nearly all of the probability is on one word.",
    ),
    Preset("A sum", "Two plus two equals", "Five and four are about as probable: it does not add."),
    Preset(
        "Wide open",
        "Once upon a time, there was a",
        "Hundreds of words are possible; none has much probability.",
    ),
    Preset(
        "Copying from before",
        "The cat sat on the mat. The cat sat on the",
        "Some heads find what came after the same words earlier: induction.",
    ),
)

DEFAULT_PROMPT = PRESETS[0].prompt
CHAT_QUESTION = PRESETS[1]
"""What other pages offer as an example of a chat."""
