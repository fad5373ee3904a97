"""What is said while the model loads, and what becomes of an operator's settings."""

from __future__ import annotations

import pytest

from engine.model.weights import DEFAULT
from pages.frame.live import read_cap
from pages.frame.loading import LoadState, allowed_sources, describe


def test_the_download_says_how_far_it_is():
    fraction, sentence = describe(LoadState("download", 46_000_000, 92_000_000))
    assert fraction == 0.5
    assert sentence == "Fetching the model, once: 46 of 92 MB"


def test_what_is_out_of_the_ordinary_is_said_before_the_progress_and_is_no_markup():
    note = "The stored model was damaged (model_1 has *3* bytes), so it is fetched again."
    _, sentence = describe(LoadState("download", 0, 92_000_000, note=note))
    assert sentence.startswith("The stored model was damaged")
    assert r"model\_1 has \*3\* bytes" in sentence
    assert sentence.endswith("Fetching the model, once: 0 of 92 MB")


def test_without_a_list_there_is_the_default_model_alone(monkeypatch):
    monkeypatch.delenv("TOKEN_BY_TOKEN_MODELS", raising=False)
    assert allowed_sources() == (DEFAULT,)
    monkeypatch.setenv("TOKEN_BY_TOKEN_MODELS", " one , ,two ")
    assert allowed_sources() == ("one", "two")


def test_a_cap_is_a_whole_number_from_1_on():
    assert read_cap("300") == 300


@pytest.mark.parametrize("text", ["", "many", "0", "-5", "2.5"])
def test_a_cap_that_is_none_is_named_in_the_log(text, caplog):
    assert read_cap(text) == 256
    assert "TOKEN_BY_TOKEN_CAP" in caplog.text
    assert f"“{text}”" in caplog.text
