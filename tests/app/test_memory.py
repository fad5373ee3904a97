"""A long day: models that were replaced, and pages that were left, do not stay in memory."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from transformers import AutoModelForCausalLM, LlamaConfig

from components.link import keys
from components.shell.stages import STAGES
from engine.model.model import LanguageModel
from engine.tracing.trace import Trace
from pages.frame.loading import loader, model_in_use
from pages.frame.memory import living_models
from pages.frame.shared import store
from tests.app.conftest import save_tiny
from tests.app.hands import set_prompt
from tests.app.test_links import CASES
from tests.tiny import tiny_network

KEPT = 2
"""Models that the app keeps ready."""
SWITCHES = 20
VIEWS = [
    *((entry.key, {}) for entry in STAGES),
    *((case.page, case.opened) for case in CASES if case.page in {"guardrails", "speculative"}),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return three tiny models."""
    base = tmp_path_factory.mktemp("several")
    return [
        str(save_tiny(base / f"model-{number}", tiny_network("llama", seed=number)))
        for number in range(3)
    ]


@pytest.fixture
def born(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[weakref.ref[LanguageModel]]]:
    """Return weak references to all models that are loaded during the test."""
    refs: list[weakref.ref[LanguageModel]] = []
    wrap = LanguageModel.wrap

    def noted(*args: Any, **named: Any) -> LanguageModel:
        model = wrap(*args, **named)
        refs.append(weakref.ref(model))
        return model

    monkeypatch.setattr(LanguageModel, "wrap", noted)
    loader.clear()
    living_models().clear()
    yield refs
    loader.clear()


def alive(refs: list[weakref.ref[LanguageModel]]) -> int:
    return sum(ref() is not None for ref in refs)


def switch(at: AppTest, folder: str) -> None:
    at.selectbox(key=keys.MODEL).set_value(folder).run()
    assert not at.exception, [element.value for element in at.exception]
    assert at.session_state[keys.MODEL] == folder
    gc.collect()  # as Streamlit's server does after each run


def resident() -> int:
    """Return the bytes of memory that this process holds now."""
    with Path("/proc/self/statm").open() as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("page", "opened"), VIEWS, ids=["-".join((page, *opened.values())) for page, opened in VIEWS]
)
def test_no_view_holds_on_to_a_model_that_was_replaced(open_app, folders, born, page, opened):
    at = open_app(page, models=",".join(folders), **opened)
    for number in range(1, 5):
        switch(at, folders[number % 3])
    assert len(born) == 5, "each switch brings a model that had been let go"
    assert alive(born) <= KEPT


@pytest.mark.parametrize(
    ("page", "opened"), VIEWS, ids=["-".join((page, *opened.values())) for page, opened in VIEWS]
)
def test_a_page_that_stays_open_holds_no_model_and_goes_on(open_app, folders, born, page, opened):
    at = open_app(page, models=folders[0], **opened)
    loader.clear()  # as when others have taken its place
    store().forget()
    gc.collect()
    assert alive(born) == 0
    at.run()
    assert not at.exception, [element.value for element in at.exception]
    assert len(born) == 2


def test_a_session_holds_nothing_of_the_pages_that_it_left(open_app, folders, born):
    at = open_app(models=folders[0])
    traces = weakref.WeakSet()
    for entry in STAGES:
        set_prompt(at, f"The cat sat on {entry.key}")
        at.switch_page(entry.page).run()
        traces.update(found for found in gc.get_objects() if isinstance(found, Trace))
    store().forget()
    gc.collect()
    assert len(traces) <= 1, "the open page's own"


def test_a_model_that_somebody_still_uses_is_not_loaded_twice(open_app, folders, born):
    first = open_app("tokenizer", models=",".join(folders))
    used = model_in_use(folders[0])  # as a page that writes holds it
    for number in (1, 2, 0):
        switch(first, folders[number])
    assert len(born) == 3
    assert model_in_use(folders[0]) is used


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_twenty_switches_cost_the_memory_of_one_model(open_app, tmp_path):
    shape = {"hidden_size": 256, "intermediate_size": 8192, "num_hidden_layers": 2}
    config = LlamaConfig(vocab_size=384, num_attention_heads=4, **shape)
    network = AutoModelForCausalLM.from_config(config)
    size = sum(parameter.numel() for parameter in network.parameters()) * 4
    folders = [str(save_tiny(tmp_path / str(number), network)) for number in range(3)]
    del network
    at = open_app("tokenizer", models=",".join(folders))
    for number in range(1, 4):  # all that is kept is there then
        switch(at, folders[number % 3])
    before = resident()
    for number in range(4, 4 + SWITCHES):
        switch(at, folders[number % 3])
    assert resident() - before < 1.5 * size, "one model, and what the libraries keep for themselves"
