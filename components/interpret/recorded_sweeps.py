"""Sweeps over all heads that were recorded with the default model, so that no page opens empty."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from components.kit.arrays import Array

RECORDING = Path(__file__).parent / "sweeps.json"


@dataclass(frozen=True)
class Recorded:
    """What one token's probability is without each head alone, after one prompt."""

    prompt: str
    ids: tuple[int, ...]
    token_id: int
    probabilities: tuple[tuple[float, ...], ...]
    """Heads by layers."""

    def table(self) -> Array:
        """Return the probabilities as `[L, H]`."""
        return np.array(self.probabilities, dtype=np.float32)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the file."""
        rows = [[float(f"{value:.4g}") for value in row] for row in self.probabilities]
        return {
            "prompt": self.prompt,
            "ids": list(self.ids),
            "token_id": self.token_id,
            "probabilities": rows,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Recorded:
        """Read what `to_json` wrote."""
        rows = tuple(tuple(row) for row in data["probabilities"])
        return cls(data["prompt"], tuple(data["ids"]), data["token_id"], rows)


@st.cache_data(show_spinner=False)
def recordings() -> tuple[Recorded, ...]:
    """Return what `scripts/record_sweeps.py` kept."""
    data = json.loads(RECORDING.read_text(encoding="utf-8"))
    return tuple(Recorded.from_json(entry) for entry in data)


def find(ids: Sequence[int], token_id: int) -> Recorded | None:
    """Return the recording of a prompt's ids and a token; None if there is none."""
    wanted = tuple(ids), token_id
    return next((r for r in recordings() if (r.ids, r.token_id) == wanted), None)
