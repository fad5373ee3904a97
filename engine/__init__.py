"""What is true: weights, tokenizer, hooked forward pass, sampling and decoding.

The engine knows torch and transformers and never Streamlit or Plotly. What leaves it is plain:
frozen dataclasses of read-only float32 numpy arrays and Python values.

    from engine import SamplingSettings, edits, load_model

Names load when they are first used: `import engine` brings in neither torch nor transformers.
docs/engine.md shows what can be done with them.

Shape key, used in docstrings and as suffixes of local names (`scores_HTS`):

    B  batch                    T  query tokens           S  key tokens
    L  layers                   H  query heads            G  key/value heads
    K  head size                D  model width            F  feed-forward width
    V  vocabulary
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.basics.lazy import lazy_names

if TYPE_CHECKING:
    from engine.basics.errors import EngineError as EngineError
    from engine.basics.errors import ModelLoadError as ModelLoadError
    from engine.basics.results import to_pandas as to_pandas
    from engine.generation.beam import BeamTree as BeamTree
    from engine.generation.beam import beam_search as beam_search
    from engine.generation.loop import generate as generate
    from engine.generation.random_numbers import uniforms as uniforms
    from engine.generation.token_step import TokenStep as TokenStep
    from engine.interpret.attribution import attribution as attribution
    from engine.interpret.lens import lens as lens
    from engine.library import Chain as Chain
    from engine.library import Run as Run
    from engine.library import Workbench as Workbench
    from engine.library import load_model as load_model
    from engine.model.model import LanguageModel as LanguageModel
    from engine.observe import edits as edits
    from engine.sampling.chain import Stage as Stage
    from engine.sampling.chain import run_chain as run_chain
    from engine.sampling.settings import SamplingSettings as SamplingSettings
    from engine.sampling.settings import SettingsError as SettingsError
    from engine.speculative import drafts as drafts
    from engine.speculative.early_exit import early_exit as early_exit
    from engine.speculative.loop import speculate as speculate
    from engine.speculative.rounds import DraftRound as DraftRound
    from engine.tokenizer.spans import Token as Token
    from engine.tokenizer.tokenizer import Tokenizer as Tokenizer
    from engine.tracing.trace import Trace as Trace
    from engine.tracing.trace import trace as trace

HOMES: Mapping[str, str] = {
    "BeamTree": "engine.generation.beam",
    "Chain": "engine.library",
    "DraftRound": "engine.speculative.rounds",
    "EngineError": "engine.basics.errors",
    "LanguageModel": "engine.model.model",
    "ModelLoadError": "engine.basics.errors",
    "Run": "engine.library",
    "SamplingSettings": "engine.sampling.settings",
    "SettingsError": "engine.sampling.settings",
    "Stage": "engine.sampling.chain",
    "Token": "engine.tokenizer.spans",
    "TokenStep": "engine.generation.token_step",
    "Tokenizer": "engine.tokenizer.tokenizer",
    "Trace": "engine.tracing.trace",
    "Workbench": "engine.library",
    "attribution": "engine.interpret.attribution",
    "beam_search": "engine.generation.beam",
    "drafts": "engine.speculative",
    "early_exit": "engine.speculative.early_exit",
    "edits": "engine.observe",
    "generate": "engine.generation.loop",
    "lens": "engine.interpret.lens",
    "load_model": "engine.library",
    "run_chain": "engine.sampling.chain",
    "speculate": "engine.speculative.loop",
    "to_pandas": "engine.basics.results",
    "trace": "engine.tracing.trace",
    "uniforms": "engine.generation.random_numbers",
}
"""By name, where it is defined. A test holds it to the imports above."""

__getattr__, __dir__ = lazy_names(__name__, HOMES)
