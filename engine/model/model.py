"""The model as the rest of the engine sees it: a network, its tokenizer, its facts and one lock.

`load_model` brings in the default model, any causal model of the Hugging Face hub, a folder of
safetensors or a `.gguf` file. All four ways end in `LanguageModel.wrap`, which is also what tests
call with a tiny random network. No code and no pickled weights of a model's repository ever run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.basics.errors import ModelLoadError
from engine.basics.results import Result
from engine.model import sources
from engine.model.fair_lock import FairLock
from engine.model.runtime import choose_device, quiet_libraries, set_threads
from engine.model.weights import DEFAULT, Progress
from engine.network.architecture import Architecture, read_architecture
from engine.network.few_rows import use_few_rows
from engine.network.sites import Sites
from engine.observe import hooks
from engine.tokenizer.tokenizer import Tokenizer

__all__ = ["DEFAULT", "Architecture", "LanguageModel", "ModelLoadError", "Progress", "load_model"]


@dataclass(frozen=True, eq=False)
class LanguageModel(Result):
    """A decoder-only language model, ready to be observed."""

    name: str
    """What people call it: the default's name, a hub id, or a file's or folder's name."""
    source: str
    """What `load_model` was given."""
    architecture: Architecture
    tokenizer: Tokenizer
    network: Any = field(repr=False)
    """The `PreTrainedModel`. It stays inside the engine."""
    sites: Sites = field(repr=False)
    """The network's modules at which a pass is watched and edited."""
    device: str
    """Where the network computes: "cpu", "cuda" or "mps"."""
    stop_ids: frozenset[int]
    """The tokens that end an answer."""
    lock: FairLock = field(default_factory=FairLock)
    """Hold it around one pass: hooks on, pass, hooks off. First come, first served."""

    def __repr__(self) -> str:
        shape = self.architecture
        return f"LanguageModel({self.name!r}, {shape.layers} layers, {shape.family}, {self.device})"

    @classmethod
    def wrap(
        cls,
        network: Any,
        tokenizer: Tokenizer,
        *,
        name: str,
        source: str | None = None,
        device: str = "cpu",
    ) -> LanguageModel:
        """Make a loaded network and its tokenizer into a model that can be observed.

        The network is changed in place: moved to the device, frozen, switched to inference, its
        attention made observable and, on a CPU, its linear layers made fast over few rows.

        Raises:
            ModelLoadError: The network is no decoder of the kind that this project can look into.
        """
        quiet_libraries()
        architecture = read_architecture(network)
        network.to(device).eval().requires_grad_(False)
        sites = hooks.install(network)
        # Last: what it compiles at its first product is no part of the loading.
        use_few_rows(network)
        return cls(
            name=name,
            source=name if source is None else source,
            architecture=architecture,
            # An LM head padded beyond the vocabulary can draw ids that stand for nothing.
            tokenizer=tokenizer.sized(architecture.vocabulary),
            network=network,
            sites=sites,
            device=device,
            stop_ids=_stop_ids(network, tokenizer),
        )


def load_model(
    source: str = DEFAULT,
    *,
    device: str = "auto",
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> LanguageModel:
    """Load a model by name.

    Args:
        source: The default's name, a hub id such as "Qwen/Qwen3-0.6B", a folder with
            `config.json` and safetensors, or a `.gguf` file.
        device: "auto" (CUDA, else the CPU), or the name of a torch device.
        threads: CPU threads for the whole process. None takes `TOKEN_BY_TOKEN_THREADS`, and without
            it half of the cores.
        progress: Called with each step of fetching, converting and loading.

    Raises:
        ModelLoadError: With the value that was wrong and the way out.
    """
    quiet_libraries()
    set_threads(threads)
    report = progress or (lambda _: None)
    place = choose_device(device)
    loaded = sources.load(source, device=place, report=report)
    with sources.load_errors(source):
        model = LanguageModel.wrap(
            loaded.network, loaded.tokenizer, name=loaded.name, source=source, device=place
        )
    report(Progress("load", 1, 1))
    return model


def _stop_ids(network: Any, tokenizer: Tokenizer) -> frozenset[int]:
    """Return the ids at which transformers' own `generate` stops.

    A model that names none gets its tokenizer's end-of-text and end-of-turn tokens.
    """
    generation = getattr(network, "generation_config", None)
    stop = getattr(generation, "eos_token_id", None)
    if stop is None:
        stop = getattr(network.config.get_text_config(), "eos_token_id", None)
    if stop is None:
        return tokenizer.end_ids
    return frozenset([stop] if isinstance(stop, int) else stop)
