"""Where a model can come from: the default's name, the hub, a folder or a `.gguf` file.

Each way gives a transformers network and this project's tokenizer, or a `ModelLoadError` that names
the value and the way out. Weights are read from safetensors or GGUF alone, which hold numbers and no
code, and `trust_remote_code` is never set.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from engine import weights
from engine.errors import ModelLoadError
from engine.weights import Progress

if TYPE_CHECKING:
    from engine.tokenizer import Tokenizer

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")

WAYS = f"Give “{weights.DEFAULT}”, a hub id such as “Qwen/Qwen3-0.6B”, a folder or a .gguf file."


@dataclass(frozen=True)
class Loaded:
    """A network and a tokenizer, fresh from their files."""

    name: str
    network: Any
    tokenizer: Tokenizer


def load(source: str, *, device: str, progress: Callable[[Progress], None]) -> Loaded:
    raise NotImplementedError
