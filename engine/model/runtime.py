"""What is set once for the whole process: device, CPU threads, and silence of the libraries."""

from __future__ import annotations

import logging
import os
import warnings

import torch
import transformers
from huggingface_hub.utils.tqdm import disable_progress_bars

from engine.basics.errors import ModelLoadError

THREADS_VARIABLE = "TOKEN_BY_TOKEN_THREADS"


def choose_device(wanted: str = "auto") -> str:
    """Return the torch device to compute on: CUDA if there is one, else the CPU.

    Apple's GPU ("mps") is taken only by name: nobody has checked its numbers against the CPU's.

    Raises:
        ModelLoadError: A device was asked for by name and torch cannot use it here.
    """
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=wanted)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelLoadError(
            f"The device “{wanted}” cannot be used here. Choose “auto” or “cpu”."
        ) from error
    return wanted


def set_threads(threads: int | None = None) -> int:
    """Set torch's CPU threads for the whole process and return how many there are.

    Args:
        threads: How many. None takes the environment variable `TOKEN_BY_TOKEN_THREADS`, and without
            it half of the cores: threads that wait for a busy core make each step several times
            slower, and the web server and the browser need cores too.

    Raises:
        ModelLoadError: The number is not a whole number of at least 1.
    """
    wanted: int | str = os.environ.get(THREADS_VARIABLE, "") if threads is None else threads
    if wanted == "":
        wanted = max(1, _usable_cores() // 2)
    try:
        count = int(wanted)
    except ValueError:
        count = 0
    if count < 1:
        raise ModelLoadError(
            f"“{wanted}” is not a number of CPU threads. "
            f"Set {THREADS_VARIABLE} to a whole number of at least 1, or leave it out."
        )
    if torch.get_num_threads() != count:
        torch.set_num_threads(count)
    return count


def quiet_libraries() -> None:
    """Keep notes and progress bars of transformers and the hub client out of the server's log.

    They speak to a developer at a terminal. What a user must know, the engine says itself.
    """
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    warnings.filterwarnings("ignore", module=r"(transformers|huggingface_hub)\b")
    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)


def _usable_cores() -> int:
    """Return how many cores this process may use, which in a container is fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
