"""Fixtures for every tier: isolated user folders, tiny random models, the real default model."""

from __future__ import annotations

import os

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


@pytest.fixture(autouse=True)
def _isolated_user_folders(request, tmp_path, monkeypatch):
    """Let no test read or write the user's caches, except those that need the real weights."""
    if request.node.get_closest_marker("real") or request.node.get_closest_marker("browser"):
        return
    monkeypatch.setenv("TOKEN_BY_TOKEN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tiny_model():
    """Return `tiny_model(family, seed=0, layers=None)`, which makes a fresh model at each call."""
    from tests.tiny import tiny_model

    return tiny_model


@pytest.fixture(scope="session")
def real_model():
    """Return the default model, fetched into the user's cache as users get it."""
    from engine.model.model import load_model

    return load_model()
