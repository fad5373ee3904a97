"""What the penalties look at, in words: an answer that is still empty, a chat template's tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.sampling.chain import SamplingSettings


@dataclass(frozen=True)
class Prompt:
    """What is known of the prompt's tokens, in their order."""

    control: Sequence[str | None]
    """For each token its visible name if it is a control token, else None."""
    ends: frozenset[str]
    """The names of those that end an answer."""
    chat: bool
    """Whether the model's chat template stands around the text."""


def penalty_words(name: str, settings: SamplingSettings, prompt: Prompt) -> str:
    """Say what else than the text's own words a penalty hits, or that it hits nothing yet.

    Args:
        name: "repetition_penalty" or "count_penalties", switched on.
        settings: of the chain.
        prompt: what the model reads before the answer.
    """
    if name == "count_penalties" and not settings.count_prompt:
        return (
            "The prompt is not counted, and of the answer nothing is written yet: here nothing "
            "changes. While the answer is written, its own tokens count."
        )
    window = settings.penalty_window
    seen = prompt.control[-window:] if window else prompt.control
    control = list(dict.fromkeys(one for one in seen if one is not None))
    if not control:
        return ""
    verb = _verb(name, settings)
    whose = "The chat template's own tokens" if prompt.chat else "The prompt's control tokens"
    words = f"{whose} are {verb} with the rest, {', '.join(control)} among them."
    ends = [one for one in control if one in prompt.ends]
    if not ends:
        return words
    effect = {"lowered": "the answer tends to run on", "raised": "the answer tends to end sooner"}
    return f"{words} {ends[0]} is the end token: {effect.get(verb, 'the answer ends elsewhere')}."


def _verb(name: str, settings: SamplingSettings) -> str:
    """Say which way a penalty moves the logits."""
    if name == "repetition_penalty":
        return "lowered" if settings.repetition_penalty > 1 else "raised"
    values = (settings.presence_penalty, settings.frequency_penalty)
    if min(values) >= 0:
        return "lowered"
    return "raised" if max(values) <= 0 else "changed"
