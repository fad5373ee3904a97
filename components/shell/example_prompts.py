"""Prompts worth showing, named for what they show. All are plain text for the default model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """A prompt and what a class can see with it."""

    name: str
    prompt: str


PRESETS: tuple[Preset, ...] = (
    Preset("A question", "Why is the sky blue?"),
    Preset("A fact it knows", "The capital of France is"),
    Preset("A fact it gets wrong", "The capital of Australia is"),
    Preset("A fact it is sure of", "The chemical symbol for gold is"),
    Preset("Many ways to go on", "Roses are red, violets are"),
    Preset("Copying from before", "The cat sat on the mat. The cat sat on the"),
)

DEFAULT_PROMPT = PRESETS[0].prompt
