"""What is said while the model loads, and what becomes of an operator's settings."""

from __future__ import annotations

import pytest

from engine.model.weights import DEFAULT
from pages.frame.loading import LoadState, allowed_sources, describe
from pages.frame.operator import whole_number


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


def test_an_operators_number_is_a_whole_one_from_1_on(monkeypatch, caplog):
    monkeypatch.delenv("A_NUMBER", raising=False)
    assert whole_number("A_NUMBER", 256, "the cap is {} tokens") == 256
    monkeypatch.setenv("A_NUMBER", "300")
    assert whole_number("A_NUMBER", 256, "the cap is {} tokens") == 300
    assert not caplog.text


@pytest.mark.parametrize("text", [" ", "many", "0", "-5", "2.5"])
def test_an_operators_number_that_is_none_is_named_in_the_log(text, monkeypatch, caplog):
    monkeypatch.setenv("A_NUMBER", text)
    assert whole_number("A_NUMBER", 256, "the cap is {} tokens") == 256
    assert f"A_NUMBER is “{text}”" in caplog.text
    assert "so the cap is 256 tokens" in caplog.text
