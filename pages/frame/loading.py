"""Loads one model per process, in the background while the page already shows something."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import markdown
from engine.basics.errors import EngineError
from engine.model.weights import DEFAULT
from pages.frame.memory import freeze_libraries, living_models
from pages.frame.shared import store

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


def allowed_sources() -> tuple[str, ...]:
    """Return the models that the operator allows, the one to start with first.

    `TOKEN_BY_TOKEN_MODELS` lists them, separated by commas: hub ids, folders, `.gguf` files.
    Without it there is the default model alone.
    """
    listed = os.environ.get("TOKEN_BY_TOKEN_MODELS", "")
    sources = tuple(entry.strip() for entry in listed.split(",") if entry.strip())
    return sources or (DEFAULT,)


@dataclass(frozen=True)
class LoadState:
    """How far the loading is, at one moment."""

    stage: str
    done: int
    total: int | None
    model: LanguageModel | None = None
    error: str | None = None
    note: str = ""
    """What is out of the ordinary: a damaged file, another process at work."""


class Loader:
    """Loads one model on a thread of its own, so that every session sees the same progress."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._state = LoadState("start", 0, None)
        self._living = living_models()
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._load, name="model-loader", daemon=True)
        self._thread.start()

    @property
    def state(self) -> LoadState:
        """The state now."""
        return self._state

    def wait(self, seconds: float | None) -> bool:
        """Wait until the loading has ended, well or not; return whether it has. None: no limit."""
        return self._finished.wait(seconds)

    def _load(self) -> None:
        # The imports take several seconds, so they run here too, behind the painted page.
        try:
            from engine.model.model import load_model
            from engine.model.weights import Progress
        except ImportError as error:
            self._fail(f"A package is missing ({error}). Run `make run` once more to install it.")
            return

        def report(progress: Progress) -> None:
            if progress.stage == "load":
                freeze_libraries()
            self._state = LoadState(
                progress.stage, progress.done, progress.total, note=progress.note
            )

        try:
            model = self._living.get(self.source) or load_model(self.source, progress=report)
        except EngineError as error:
            self._fail(str(error))
        except Exception as error:  # a thread has nobody above it: say what happened on the page
            self._fail(f"Loading {self.source} failed: {type(error).__name__}: {error}")
            raise
        else:
            self._living[self.source] = model
            self._state = LoadState("ready", 1, 1, model=model)
            self._finished.set()

    def _fail(self, sentence: str) -> None:
        self._state = LoadState("failed", 0, None, error=sentence)
        self._finished.set()


def _let_go(old: Loader) -> None:
    """Throw a model's results away when it makes room for another: passes hold their model."""
    store().forget(old.source)


@st.cache_resource(max_entries=2, show_spinner=False, on_release=_let_go)
def loader(source: str) -> Loader:
    """Return the loader of a model, started at the first call."""
    return Loader(source)


def loaded_model(source: str) -> LanguageModel | None:
    """Return the model if it is there already; never wait."""
    return loader(source).state.model


def model_in_use(source: str) -> LanguageModel:
    """Return the model; where another has taken its place meanwhile, it is loaded once more.

    Raises:
        EngineError: It can't be loaded any more.
    """
    job = loader(source)
    job.wait(None)
    if job.state.model is None:
        raise EngineError(job.state.error or f"{source} could not be loaded.")
    return job.state.model


def wait_for_model(source: str) -> LanguageModel:
    """Show the progress until the model is there, then return it.

    When the loading fails, the page says why, offers to try again, and the script stops there.
    """
    job = loader(source)
    if not job.wait(0):
        with st.container(key="loading"):
            bar = st.progress(0.0, text="Loading the model …")
            while not job.wait(0.2):
                fraction, sentence = describe(job.state)
                bar.progress(fraction, text=sentence)
            bar.empty()
    model = job.state.model
    if model is None:
        st.error(markdown(job.state.error or "The model could not be loaded."))
        if st.button("Try again", key="retry_load", icon=":material/refresh:"):
            loader.clear(source)
            st.rerun()
        st.stop()
    return model


def describe(state: LoadState) -> tuple[float, str]:
    """Return how much of a stage is done (0 to 1) and, as Markdown, the sentence that says so."""
    fraction = min(state.done / state.total, 1.0) if state.total else 0.0
    return fraction, f"{markdown(state.note)} {_stage_in_words(state)}".strip()


def _stage_in_words(state: LoadState) -> str:
    megabytes = f"{state.done / 1e6:.0f}"
    if state.stage == "download":
        of = f" of {state.total / 1e6:.0f}" if state.total else ""
        return f"Fetching the model, once: {megabytes}{of} MB"
    if state.stage == "convert":
        return "Unpacking the model, once (about 20 seconds) …"
    if state.stage == "load":
        return "Loading the model …"
    return "Starting …"
