"""The frame around every page, without a browser: each page runs on any prompt that is typed."""

from __future__ import annotations

import re

import pytest

from components.shell.stages import STAGES
from tests.app.hands import html_of, prompt_of, question_of, set_prompt

TRACED = [stage for stage in STAGES if stage.key not in {"tokenizer", "overview"}]
# Guardrails and training show texts of their own, so a long prompt is no matter to them.
CAPPED = [stage for stage in TRACED if stage.section != "Control"]
each_stage = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)

PROMPTS = {
    "markup": "<script>alert(1)</script> **bold** :smile: $x$ %{x} `code` [a](b)",
    "one token": "a",
    "white space": " \n\t ",
    "digits": "1 2 3 2024-01-01",
    "right to left": "שלום עולם",
    "family emoji": "👩‍👩‍👧‍👦",
    "byte order mark": "\ufeffhello",
    "special-token text": "<|im_end|>\n<|im_start|>system",
    "control characters": "a\x04b\x1dc\x00d",
}


def texts(at) -> str:
    """Return all that the page says in words, as it is read: without Markdown's escapes."""
    kinds = ("markdown", "caption", "warning", "info", "error", "text", "toast")
    said = "\n".join(element.value for kind in kinds for element in at.get(kind)) + html_of(at)
    return re.sub(r"\\(\W)", r"\1", said)


@each_stage
def test_each_page_shows_its_question_and_runs(open_app, stage):
    at = open_app(stage.key)
    assert question_of(at) == stage.question
    assert stage.answer in texts(at)


@each_stage
def test_no_page_fails_on_any_prompt(open_app, stage):
    at = open_app(stage.key)
    for name, prompt in PROMPTS.items():
        set_prompt(at, prompt)
        assert not at.exception, name
        assert question_of(at) == stage.question, name


@pytest.mark.parametrize("stage", TRACED, ids=lambda stage: stage.key)
def test_an_empty_prompt_is_said_and_not_traced_where_it_is_used(open_app, stage):
    at = open_app(stage.key)
    set_prompt(at, "")
    assert not at.exception
    assert ("prompt is empty" in texts(at)) == (stage in CAPPED)


@pytest.mark.parametrize("stage", CAPPED, ids=lambda stage: stage.key)
def test_a_prompt_over_the_cap_is_kept_whole(open_app, stage):
    long = "The cat sat on the mat. " * 200
    at = open_app(stage.key)
    set_prompt(at, long)
    assert not at.exception
    assert prompt_of(at) == long
    assert "take up to 256" in texts(at)


@each_stage
def test_each_page_runs_on_a_chat_turn(open_app, stage):
    at = open_app(stage.key)
    at.toggle(key="chat").set_value(True).run()
    assert not at.exception


def test_an_unknown_model_is_named_with_a_way_out(open_app):
    at = open_app("attention", models="no/such/place/at/all")
    assert "“no/such/place/at/all” does not name a model" in texts(at)
    assert at.button(key="retry_load")


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"temperature": "9"}, "Temperature in the link was 9"),
        ({"top_k": "many"}, "Top-k in the link was “many”"),
        ({"seed": "-4"}, "Seed in the link was -4"),
        ({"top_p": "nan"}, "Top-p in the link was “nan”"),
    ],
)
def test_values_in_the_link_that_cannot_be_are_put_right_and_said(open_app, link, sentence):
    assert sentence in texts(open_app(**link))


def test_what_the_engine_refuses_is_said_in_its_own_words(open_app, monkeypatch):
    import engine.tokenizer.tokenizer
    from engine.basics.errors import EngineError

    def refuse(*_, **__):
        raise EngineError("The template refuses *this* turn. Use plain text instead.")

    monkeypatch.setattr(engine.tokenizer.tokenizer.Tokenizer, "chat_text", refuse)
    at = open_app("attention", chat="true", prompt="Hello")
    assert [entry.value for entry in at.error] == [
        "The template refuses \\*this\\* turn\\. Use plain text instead\\."
    ]
    assert question_of(at)


@pytest.mark.parametrize("key", ["tokenizer", "generation", "attention"])
def test_a_prompt_of_a_million_characters_is_not_cut_into_tokens(open_app, key):
    at = open_app(key)
    set_prompt(at, "word " * 200_000)
    assert not at.exception
    said = " ".join(one.value.replace("\\", "") for one in at.warning)
    assert "1,000,000 characters; up to 50,000" in said
    assert prompt_of(at) == "word " * 200_000, "the text stays"
    set_prompt(at, "The cat")
    assert not at.exception
    assert not at.warning
