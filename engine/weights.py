"""The default model's weights: fetched once, checked, converted and kept in the user's cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DEFAULT = "SmolLM2-135M-Instruct"
"""The name of the default model, which needs no account and no hub."""


@dataclass(frozen=True)
class Progress:
    """How far a model's way from the network into memory has come."""

    stage: Literal["download", "convert", "load"]
    done: int
    """Bytes in the stage "download", steps in the others."""
    total: int | None
    """None where the end is not known yet."""


def default_folder(progress: Callable[[Progress], None]) -> Path:
    raise NotImplementedError
