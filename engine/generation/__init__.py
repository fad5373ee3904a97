"""The loop that writes text; stop strings, branches, beam search, export, streaming."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.basics.lazy import lazy_names

if TYPE_CHECKING:
    from engine.generation.beam import BeamTree as BeamTree
    from engine.generation.beam import beam_search as beam_search
    from engine.generation.loop import generate as generate
    from engine.generation.random_numbers import uniforms as uniforms
    from engine.generation.token_step import TokenStep as TokenStep

HOMES: Mapping[str, str] = {
    "BeamTree": "engine.generation.beam",
    "TokenStep": "engine.generation.token_step",
    "beam_search": "engine.generation.beam",
    "generate": "engine.generation.loop",
    "uniforms": "engine.generation.random_numbers",
}

__getattr__, __dir__ = lazy_names(__name__, HOMES)
