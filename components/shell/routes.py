"""Ways through the app for a lesson of 20, 45 or 90 minutes: stops, each a link and what to do.

The teacher's guide shows the same tables; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from components.link import keys


@dataclass(frozen=True)
class Stop:
    """One stop of a lesson."""

    minutes: int
    stage: str
    """Key of the stage whose page it is."""
    do: str
    """What the class does there, in a few words of plain text."""
    link: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the link: what stands open, and the prompt if it is another one."""


COPYING = "The cat sat on the mat. The cat sat on the"
ROUTES: Mapping[int, tuple[Stop, ...]] = {
    20: (
        Stop(5, "overview", "guess the next word before each press of “Next token”"),
        Stop(
            5,
            "tokenizer",
            "strawberry, 2024, your own name",
            {keys.TOKENIZER_PART: "Tokens are not words"},
        ),
        Stop(
            5,
            "lm_head",
            "ten seeds write ten texts: where was the answer?",
            {keys.LM_HEAD_PART: "No answer inside"},
        ),
        Stop(
            5,
            "sampling",
            "Sydney or Canberra? Move the temperature",
            {keys.PROMPT: "The capital of Australia is", keys.SAMPLING_PART: "The chain"},
        ),
    ),
    45: (
        Stop(5, "overview", "guess the order, then “Next token” three times"),
        Stop(
            8,
            "tokenizer",
            "strawberry, 2024, four languages",
            {keys.TOKENIZER_PART: "Tokens are not words"},
        ),
        Stop(5, "embedding", "two orders of the same words", {keys.EMBEDDING_PART: "Order"}),
        Stop(
            10,
            "attention",
            "copying from before: find the head, then one cell",
            {keys.PROMPT: COPYING, keys.ATTENTION_PART: "All heads"},
        ),
        Stop(
            5,
            "lm_head",
            "how many tokens have a probability?",
            {keys.LM_HEAD_PART: "All scores"},
        ),
        Stop(
            8,
            "sampling",
            "Paris and Sydney under the temperature",
            {keys.PROMPT: "The capital of France is", keys.SAMPLING_PART: "The chain"},
        ),
        Stop(4, "generation", "take another token; who ends it?"),
    ),
    90: (
        Stop(
            8,
            "overview",
            "where could a guardrail stand? Chat turn against plain text",
            {keys.SHOW_GUARDS: "true"},
        ),
        Stop(
            14,
            "tokenizer",
            "a text of their own that needs many tokens; what the model receives",
            {keys.TOKENIZER_PART: "What the model receives"},
        ),
        Stop(
            10,
            "embedding",
            "nearest rows of words that they choose",
            {keys.EMBEDDING_PART: "Look-up"},
        ),
        Stop(
            18,
            "attention",
            "find an induction head by hand; take it away",
            {keys.PROMPT: COPYING, keys.ATTENTION_PART: "Take a part away"},
        ),
        Stop(
            12,
            "feed_forward",
            "after which layer does the answer appear?",
            {keys.PROMPT: "The capital of France is"},
        ),
        Stop(
            8,
            "lm_head",
            "a fact asked in several ways; a prompt that is almost certain",
            {keys.LM_HEAD_PART: "Ways to ask"},
        ),
        Stop(
            12,
            "sampling",
            "order of the steps; “Sharpness”",
            {keys.SAMPLING_PART: "Sharpness"},
        ),
        Stop(8, "generation", "branches, stop strings, cost of each step"),
    ),
}
"""The stops of each route, by its minutes."""
