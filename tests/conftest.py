"""Fixtures for every tier: isolated user folders, tiny random models, the real default model."""

from __future__ import annotations

import logging
import os
from functools import cache

import pytest

# Read once, when the hub's client is imported: no test reaches the hub.
os.environ["HF_HUB_OFFLINE"] = "1"


def pytest_collection_modifyitems(items):
    """Mark every test that uses the default model's weights as `real`."""
    for item in items:
        if "real_model" in getattr(item, "fixturenames", ()):
            item.add_marker("real")


@pytest.fixture(scope="session", autouse=True)
def _few_threads():
    """Keep torch on one thread: on busy cores more threads are slower, and xdist runs workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN_BY_TOKEN_THREADS", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_search_for_components():
    """Let Streamlit look once a process for components in what is installed, not at every app.

    It reads the metadata of some hundred packages each time, a quarter of a second.
    """
    from streamlit.components.v2 import manifest_scanner

    search = cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", search)
        yield


class Logged(logging.Handler):
    """What is logged during a test, from the level of information on."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.records = []

    def emit(self, record):
        """Keep a record."""
        self.records.append(record)

    @property
    def text(self):
        """Return all messages."""
        return "\n".join(record.getMessage() for record in self.records)


@pytest.fixture
def caplog():
    """Return what reaches the root logger, in place of pytest's own fixture of that name.

    Pytest's plugin is switched off (`pyproject.toml`): three times a test it hangs a handler onto
    each of Streamlit's loggers, which took a tenth of the time of all quick tests.
    """
    root, handler = logging.getLogger(), Logged()
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)


@pytest.fixture(autouse=True)
def _isolated_user_folders(request, tmp_path, monkeypatch):
    """Let no test read or write the user's caches, except those that need the real weights."""
    if request.node.get_closest_marker("real") or request.node.get_closest_marker("browser"):
        return
    monkeypatch.setenv("TOKEN_BY_TOKEN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tiny_model():
    """Return `tiny_model(family, seed=0, layers=None, fresh=False)` of `tests/tiny.py`."""
    from tests.tiny import tiny_model

    return tiny_model


@pytest.fixture(scope="session")
def real_model():
    """Return the default model, fetched into the user's cache as users get it."""
    from engine.model.model import load_model

    return load_model()
