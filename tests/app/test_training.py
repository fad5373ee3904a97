"""The training page on a tiny random model: each lesson runs, and the shared model stays."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tokenizers import Tokenizer as Backend
from tokenizers.processors import TemplateProcessing

from engine.tokenizer.tokenizer import Tokenizer
from pages.frame.loading import loader
from pages.training import views
from tests.app.conftest import kept
from tests.tiny import SPECIAL_TOKENS, tiny_backend


def choose(at, lesson):
    at.segmented_control(key="lesson").set_value(lesson).run()
    assert not at.exception, [element.value for element in at.exception]


def press(at, key):
    at.button(key=key).click().run()
    assert not at.exception, [element.value for element in at.exception]


def checksum(folder):
    digest = hashlib.sha256()
    model = loader(str(folder)).state.model
    for name, tensor in sorted(model.network.state_dict().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()


def test_a_sentence_is_learned_and_forgotten_and_the_shared_model_stays(open_app, tiny_folder):
    at = open_app("training", lesson="One step of learning")
    before = checksum(tiny_folder)
    at.select_slider(key="learn_rate").set_value(1e-3).run()
    press(at, "teach")
    steps = kept(at, views.LEARNED)
    assert len(steps) == 9
    assert steps[-1].competing[0] > steps[0].competing[0]
    assert len(at.get("plotly_chart")) == 2
    assert checksum(tiny_folder) == before
    press(at, "forget")
    assert kept(at, views.LEARNED) is None
    assert not at.get("plotly_chart")


def test_a_preference_moves_both_answers(open_app, tiny_folder):
    at = open_app("training")
    before = checksum(tiny_folder)
    choose(at, "Preference")
    at.select_slider(key="dpo_rate").set_value(1e-3).run()
    press(at, "prefer")
    steps = kept(at, views.PREFERRED)
    assert steps[-1].margin > steps[0].margin == 0
    assert checksum(tiny_folder) == before


def test_equal_answers_are_refused_with_a_sentence(open_app):
    at = open_app("training")
    choose(at, "Preference")
    at.text_input(key="dpo_other").set_value("Good day to you.").run()
    press(at, "prefer")
    (said,) = [element.value for element in at.error]
    assert said.startswith("Both answers are the same")
    assert not at.get("plotly_chart")


def test_a_tiny_transformer_is_trained_and_looked_into(open_app, monkeypatch):
    monkeypatch.setattr(views, "TINY_STEPS", 20)
    at = open_app("training", seed="5")
    assert any("**Recorded**" in element.value for element in at.caption)
    press(at, "tiny")
    losses, samples, models, chance = kept(at, views.TRAINED)
    assert list(samples) == list(models) == [0, 10, 20]
    assert losses[0] == pytest.approx(chance, abs=0.2)
    assert losses[20] < losses[0]
    at.segmented_control(key="tiny_step").set_value(0).run()
    assert "After 0 steps" in at.get("plotly_chart")[1].proto.spec


def test_the_loss_of_any_text_is_shown_literally(open_app):
    at = open_app("training")
    choose(at, "The only task")
    at.text_area(key="loss_text").set_value("<b>cat</b> the cat").run()
    body = at.get("html")[-1].proto.body
    assert "<b>cat" not in body
    assert "bits" in body
    at.text_area(key="loss_text").set_value("x").run()
    assert "has 1" in at.warning[0].value


def test_both_other_views_speak_of_this_model(open_app):
    at = open_app("training")
    at.session_state["view"] = "In depth"
    at.run()
    assert any("parameters learn" in element.value for element in at.markdown)
    at.session_state["view"] = "Try this"
    at.run()
    assert any("Nothing was taught yet" in element.value for element in at.caption)


def test_a_text_begins_with_the_models_first_token_and_an_answer_does_not(tiny_model):
    model = tiny_model("llama")
    backend = Backend.from_str(tiny_backend().to_str())
    backend.post_processor = TemplateProcessing(
        single=f"{SPECIAL_TOKENS[0]} $A",
        special_tokens=[(SPECIAL_TOKENS[0], backend.token_to_id(SPECIAL_TOKENS[0]))],
    )
    live = SimpleNamespace(model=replace(model, tokenizer=Tokenizer(backend)))
    first = backend.token_to_id(SPECIAL_TOKENS[0])
    assert views.tokens_of(live, "The cat")[0] == first
    assert first not in views.tokens_of(live, " mat", begins=False)
    assert views.tokens_of(live, "") == ()
