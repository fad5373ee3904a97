"""The prompt box on top of every page, with the product's name and the running model over it."""

from __future__ import annotations

from typing import Any

from components.kit.browser import component

NAME = "Token by Token"

_COMPONENT = component("shell/prompt_bar", '<div class="bar"></div>')


def prompt_bar(prompt: str, model: str, *, key: str = "prompt_bar") -> str | None:
    """Draw the box and return the text that was just applied, if any.

    Args:
        prompt: what stands in the box.
        model: a sentence on the model that runs, shown literally; empty to leave the line out.
        key: of the widget.
    """
    result = _COMPONENT(key=key, data=payload(prompt, model), on_applied_change=lambda: None)
    applied = result.applied
    return applied if isinstance(applied, str) else None


def payload(prompt: str, model: str) -> dict[str, Any]:
    """Return what the browser needs."""
    return {"prompt": prompt, "name": NAME if model else "", "model": model}
