"""Where a model can come from: the default's name, the hub, a folder or a `.gguf` file.

Each way gives a transformers network and this project's tokenizer, or a `ModelLoadError` that
names the value and the way out. Weights are read from safetensors or GGUF alone, which hold numbers
and no code, and `trust_remote_code` is never set.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import errors as hub
from huggingface_hub import hf_hub_download
from tokenizers import Tokenizer as Backend
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    modeling_gguf_pytorch_utils,
)

from engine.basics.errors import EngineError, ModelLoadError
from engine.model import weights
from engine.model.weights import Progress, Report
from engine.network.architecture import check_layers
from engine.tokenizer.gguf_pre_tokenizer import repair_pre_tokenizer
from engine.tokenizer.tokenizer import Tokenizer

log = logging.getLogger(__name__)

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")

_WAYS = f"Give “{weights.DEFAULT}”, a hub id such as “Qwen/Qwen3-0.6B”, a folder or a .gguf file."
_OFFLINE = f"“{weights.DEFAULT}”, a folder or a .gguf file load without the hub."


@dataclass(frozen=True)
class Loaded:
    """A network and a tokenizer, fresh from their files."""

    name: str
    network: Any
    tokenizer: Tokenizer


def load(source: str, *, device: str, report: Report) -> Loaded:
    """Load a network and its tokenizer.

    Raises:
        ModelLoadError: With the value that was wrong and the way out.
    """
    source = source.strip()
    path = Path(source).expanduser()
    if source == weights.DEFAULT:
        return _default(device, report)
    if source.lower().endswith(".gguf"):
        return _gguf_file(source, path, device, report)
    if source and path.is_dir():
        return _folder(source, path, device, report)
    if source.startswith((".", "/", "~")) or "\\" in source or path.is_file():
        raise ModelLoadError(f"“{source}” is no folder with a model in it. {_WAYS}")
    if _HUB_ID.fullmatch(source):
        return _hub_id(source, device, report)
    raise ModelLoadError(f"“{source}” does not name a model. {_WAYS}")


def _default(device: str, report: Report) -> Loaded:
    """Load the default model from the user's cache, which is filled first if need be."""
    folder = weights.default_folder(report)
    report(Progress("load", 0, 1))
    # Read straight from its file: `AutoTokenizer` would take twice as long for the same.
    backend = Backend.from_file(str(folder / "tokenizer.json"))
    template = (folder / "chat_template.jinja").read_text(encoding="utf-8")
    network = _network(weights.DEFAULT, str(folder), device)
    return Loaded(weights.DEFAULT, network, Tokenizer(backend, template))


def _folder(source: str, path: Path, device: str, report: Report) -> Loaded:
    """Load a folder in the form that transformers' `save_pretrained` writes."""
    if not (path / "config.json").is_file():
        hint = "Give the .gguf file in it by its full name." if any(path.glob("*.gguf")) else _WAYS
        raise ModelLoadError(f"The folder “{source}” holds no model: no config.json. {hint}")
    if not any(path.glob("*.safetensors")):
        raise ModelLoadError(
            f"The folder “{source}” holds no .safetensors file. Other forms of weights can carry "
            "code and are not opened: save the model again with safetensors."
        )
    report(Progress("load", 0, 1))
    with load_errors(source):
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
        network = _network(source, str(path), device)
        return Loaded(path.resolve().name, network, Tokenizer.from_transformers(tokenizer))


def _gguf_file(source: str, path: Path, device: str, report: Report) -> Loaded:
    """Load a `.gguf` file through transformers, which unpacks it to floats; slow but general."""
    if not path.is_file():
        raise ModelLoadError(f"There is no file “{source}”. {_WAYS}")
    from gguf import GGUFReader  # nobody else needs it

    report(Progress("load", 0, 1))
    with load_errors(source), _unpacking_reported(report):
        tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        kind = GGUFReader(path).fields.get("tokenizer.ggml.pre")
        repair_pre_tokenizer(tokenizer.backend_tokenizer, kind.contents() if kind else "")
        network = _network(source, str(path.parent), device, gguf_file=path.name)
        return Loaded(path.stem, network, Tokenizer.from_transformers(tokenizer))


def _hub_id(source: str, device: str, report: Report) -> Loaded:
    """Load a model of the Hugging Face hub, from its local cache if it is there already."""
    report(Progress("download", 0, None))
    with _hub_errors(source):
        hf_hub_download(source, "config.json")  # small, and its errors say what is wrong
    with load_errors(source):
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        network = _network(source, source, device)
        report(Progress("load", 0, 1))
        return Loaded(source, network, Tokenizer.from_transformers(tokenizer))


def _network(source: str, place: str, device: str, **more: Any) -> Any:
    """Read a causal language model: float32 on a CPU, else as it was saved.

    Raises:
        ModelLoadError: The files do not fit the model that their config describes.
    """
    with load_errors(source):
        if not more and Path(place).is_dir():
            check_layers(AutoConfig.from_pretrained(place, trust_remote_code=False))
        network, found = AutoModelForCausalLM.from_pretrained(
            place,
            dtype=torch.float32 if device == "cpu" else "auto",
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
            **more,
        )
    missing = sorted(found["missing_keys"])
    if missing:
        # transformers would fill them with random numbers and say so only in its log.
        raise ModelLoadError(
            f"“{source}” is not whole: {len(missing)} of its weights have no values, the first of "
            f"them {missing[0]}. Fetch or save the model again."
        )
    return network


@contextmanager
def _unpacking_reported(report: Report) -> Iterator[None]:
    """Send the steps of transformers' GGUF loader to the page instead of a bar to the log.

    The loader draws its bar whatever the settings of transformers say, so its name for it is lent.
    """

    def reported(tensors: Any, **_: Any) -> Iterator[Any]:
        for done, tensor in enumerate(tensors):
            report(Progress("convert", done, len(tensors)))
            yield tensor

    bar = modeling_gguf_pytorch_utils.tqdm
    modeling_gguf_pytorch_utils.tqdm = reported
    try:
        yield
    finally:
        modeling_gguf_pytorch_utils.tqdm = bar


@contextmanager
def _hub_errors(source: str) -> Iterator[None]:
    """Say what the hub's client means."""
    try:
        yield
    except hub.GatedRepoError as error:
        raise ModelLoadError(
            f"“{source}” is given only to people who accepted its terms. Accept them on its page "
            "at huggingface.co and log in here with “hf auth login”, or choose another model."
        ) from error
    except (hub.RepositoryNotFoundError, hub.HFValidationError) as error:
        raise ModelLoadError(
            f"The hub has no public model “{source}”. Check the spelling, “owner/name”. {_WAYS}"
        ) from error
    except (hub.LocalEntryNotFoundError, hub.OfflineModeIsEnabled) as error:
        raise ModelLoadError(
            f"“{source}” is not on this machine and the hub cannot be reached. Connect, and load "
            f"the model again. {_OFFLINE}"
        ) from error
    except hub.EntryNotFoundError as error:
        raise ModelLoadError(
            f"“{source}” has no config.json, so it is no model that transformers can load. {_WAYS}"
        ) from error
    except OSError as error:
        raise ModelLoadError(
            f"“{source}” could not be fetched from the hub ({_first_line(error)}). Load the model "
            f"again later. {_OFFLINE}"
        ) from error


@contextmanager
def load_errors(source: str) -> Iterator[None]:
    """Turn whatever a loader raises about strange files into one sentence.

    The loaders raise nearly every type there is, so this boundary catches them all.
    """
    try:
        yield
    except (EngineError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the tokenizers library is no Exception
        # The libraries speak to developers ("list index out of range"): that is for the log.
        log.warning("%s could not be loaded: %s", source, error, exc_info=error)
        reason = "its files are damaged, or of a kind that is not known here"
        if "trust_remote_code" in str(error):
            reason = "it needs code from its repository, which is never run here"
        elif "safetensors" in str(error) and "does not appear to have" in str(error):
            reason = "it has no .safetensors weights, and other forms are not opened"
        raise ModelLoadError(
            f"“{source}” could not be loaded: {reason}. The server's log says more. {_WAYS}"
        ) from error


def _first_line(error: BaseException) -> str:
    """Return the beginning of a library's message, which often goes on for a page."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200].rstrip(".")
