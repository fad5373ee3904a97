"""The races that `scripts/record_race.py` recorded with the default model.

The page opens with them: a race that a draft wins, which draft pays on a text that copies and on an
open one, and the counts of the law. Bytes are kept as hex, everything else as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from engine.generation.token_step import TokenStep
from engine.sampling.settings import SamplingSettings
from engine.speculative.drafts import DraftKind
from engine.speculative.rounds import CheckedToken, DraftRound, ResidualRow

if TYPE_CHECKING:
    from engine.speculative.law import LawCheck
    from engine.speculative.race import Lap, Pay

RECORDING = Path(__file__).parent / "race.json"

COPYING = "A lion, a wolf and a bear lived in a wood. A lion, a wolf and a bear lived in"
"""The prompt of the recorded race: what comes next has stood there before."""
SETTINGS = SamplingSettings(temperature=0.0)
KIND = DraftKind.LOOKUP
GUESSES = 4
TOKENS = 30


@dataclass(frozen=True)
class Measured:
    """What was measured for each draft with k = 1, 2 and so on, after one prompt."""

    prompt: str
    tokens: int
    drafts: Mapping[str, tuple[Pay, ...]]


@dataclass(frozen=True)
class Recording:
    """All that the script recorded."""

    model: str
    laps: tuple[Lap, ...]
    """Of the race with `COPYING`, `SETTINGS`, `KIND`, `GUESSES` and `TOKENS`."""
    pays: tuple[Measured, ...]
    laws: Mapping[str, LawCheck]
    """The counts for each of the made-up drafts of `components.speculative.law_bars`."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values; `from_json` reads them.

        The steps of plain decoding are kept without their alternatives, which no race shows.
        """
        return {
            "model": self.model,
            "laps": [_plain(asdict(lap)) for lap in self.laps],
            "pays": [asdict(measured) for measured in self.pays],
            "laws": {name: asdict(law) for name, law in self.laws.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Recording:
        """Read what `to_json` gave."""
        return cls(
            data["model"],
            tuple(_lap(entry) for entry in data["laps"]),
            tuple(_measured(entry) for entry in data["pays"]),
            {name: _law(entry) for name, entry in data["laws"].items()},
        )


@st.cache_data(show_spinner=False)
def recorded() -> Recording:
    """Return what the script recorded."""
    return Recording.from_json(json.loads(RECORDING.read_text(encoding="utf-8")))


def _plain(value: Any) -> Any:
    """Return a value of a lap for JSON: bytes as hex, no alternatives."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if name != "alternatives"}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value


def _lap(entry: Mapping[str, Any]) -> Lap:
    from engine.speculative.race import Lap  # needs torch, which a page paints without

    part = entry["round"]
    return Lap(None if part is None else _round(part), tuple(map(_step, entry["steps"])))


def _round(entry: Mapping[str, Any]) -> DraftRound:
    changed = {
        "proposed": tuple(map(_checked, entry["proposed"])),
        "last": None if entry["last"] is None else _checked(entry["last"]),
        "residual": tuple(ResidualRow(**row) for row in entry["residual"]),
        "ids": tuple(entry["ids"]),
    }
    return DraftRound(**{**_known(DraftRound, entry), **changed})


def _checked(entry: Mapping[str, Any]) -> CheckedToken:
    return CheckedToken(**{**entry, "data": bytes.fromhex(entry["data"])})


def _step(entry: Mapping[str, Any]) -> TokenStep:
    data = bytes.fromhex(entry["data"])
    return TokenStep(**{**_known(TokenStep, entry), "data": data, "alternatives": ()})


def _measured(entry: Mapping[str, Any]) -> Measured:
    from engine.speculative.race import Pay

    drafts = {name: tuple(Pay(**row) for row in rows) for name, rows in entry["drafts"].items()}
    return Measured(entry["prompt"], entry["tokens"], drafts)


def _law(entry: Mapping[str, Any]) -> LawCheck:
    from engine.speculative.law import LawCheck

    values: dict[str, Any] = dict(entry)
    for name in ("counts", "expected", "residual"):
        values[name] = tuple(values[name])
    return LawCheck(**values)


def _known(kind: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of those fields that a dataclass has."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in entry.items() if name in names}
