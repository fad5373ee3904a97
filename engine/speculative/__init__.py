"""Speculative decoding: drafts, the acceptance rule, the loop, and a test that it is exact."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.basics.lazy import lazy_names

if TYPE_CHECKING:
    from engine.speculative.loop import speculate as speculate
    from engine.speculative.rounds import DraftRound as DraftRound

HOMES: Mapping[str, str] = {
    "DraftRound": "engine.speculative.rounds",
    "speculate": "engine.speculative.loop",
}

__getattr__, __dir__ = lazy_names(__name__, HOMES)
