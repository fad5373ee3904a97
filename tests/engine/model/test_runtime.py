"""Device, threads and silence."""

from __future__ import annotations

import os

import pytest
import torch
import transformers

from engine.basics.errors import ModelLoadError
from engine.model.runtime import THREADS_VARIABLE, choose_device, quiet_libraries, set_threads


@pytest.fixture(autouse=True)
def _threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_threads_come_from_argument_then_variable_then_half_of_the_cores(monkeypatch):
    monkeypatch.setenv(THREADS_VARIABLE, "2")
    assert set_threads(3) == torch.get_num_threads() == 3
    assert set_threads() == torch.get_num_threads() == 2
    monkeypatch.delenv(THREADS_VARIABLE)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert set_threads() == torch.get_num_threads() == 4
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert set_threads() == 1


@pytest.mark.parametrize("value", ["many", "0", "-2", "1.5"])
def test_a_number_of_threads_that_is_none_is_named(monkeypatch, value):
    monkeypatch.setenv(THREADS_VARIABLE, value)
    with pytest.raises(ModelLoadError, match=f"“{value}” is not a number of CPU threads"):
        set_threads()


def test_device():
    assert choose_device("cpu") == "cpu"
    assert choose_device() in {"cpu", "cuda"}


def test_apples_gpu_is_not_taken_by_itself(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device() == "cpu"
    with pytest.raises(ModelLoadError, match="“abacus” cannot be used"):
        choose_device("abacus")


def test_transformers_does_not_speak():
    transformers.logging.set_verbosity_warning()
    quiet_libraries()
    assert transformers.logging.get_verbosity() == transformers.logging.ERROR
    assert not transformers.logging.is_progress_bar_enabled()
