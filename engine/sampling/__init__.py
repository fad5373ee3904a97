"""From logits to one token: settings, the chain of steps, experiments. Imports numpy alone."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.basics.lazy import lazy_names

if TYPE_CHECKING:
    from engine.sampling.chain import Stage as Stage
    from engine.sampling.chain import draw as draw
    from engine.sampling.chain import final_probabilities as final_probabilities
    from engine.sampling.chain import run_chain as run_chain
    from engine.sampling.settings import SamplingSettings as SamplingSettings
    from engine.sampling.settings import SettingsError as SettingsError

HOMES: Mapping[str, str] = {
    "SamplingSettings": "engine.sampling.settings",
    "SettingsError": "engine.sampling.settings",
    "Stage": "engine.sampling.chain",
    "draw": "engine.sampling.chain",
    "final_probabilities": "engine.sampling.chain",
    "run_chain": "engine.sampling.chain",
}

__getattr__, __dir__ = lazy_names(__name__, HOMES)
