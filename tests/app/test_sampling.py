"""The sampling page on the tiny model: cards, order, presets, hard values, and no forward pass."""

from __future__ import annotations

import json

import pytest

from components.sampling.presets import PRESETS, settings_of
from engine.observe.hooks import observed
from tests.app.conftest import kept
from tests.app.hands import question_of
from tests.app.test_frame import texts
from tests.tiny import tiny_tokenizer

VIEWS = ("Draw", "Sweeps", "A and B", "Sharpness", "Beams")


def bars(at, name):
    """What the card of a step draws."""
    for element in at.get("bidi_component"):
        data = json.loads(element.proto.json) if element.proto.json else {}
        if element.proto.id.endswith(f"bars_{name}"):
            return data
    raise AssertionError(f"no card {name}")


def cut(at, name):
    return [row["kind"] for row in bars(at, name)["rows"]]


def test_each_step_has_its_card_with_switch_and_slider(open_app):
    at = open_app("sampling", temperature="0.7", top_p="1")
    assert at.toggle(key="on_temperature").value
    assert not at.toggle(key="on_top_k").value
    at.slider(key="top_k").set_value(3).run()
    assert at.toggle(key="on_top_k").value
    assert "384 → 3" in bars(at, "top_k")["facts"]
    assert "cut" in cut(at, "top_k")


def test_a_switch_keeps_the_number_and_brings_it_back(open_app):
    at = open_app("sampling", top_k="7")
    at.toggle(key="on_top_k").set_value(False).run()
    assert at.slider(key="top_k").value == 0
    at.toggle(key="on_top_k").set_value(True).run()
    assert at.slider(key="top_k").value == 7


def test_cards_can_be_moved_and_presets_of_the_order_taken(open_app):
    at = open_app("sampling")
    at.button(key="move_right_temperature").click().run()
    assert at.session_state["order"] == "top_k,temperature,top_p,min_p,typical"
    at.segmented_control(key="order_preset").set_value("llama.cpp").run()
    assert at.session_state["order"] == "llama.cpp"
    at.button(key="move_left_temperature").click().run()
    assert at.session_state["order"] == "top_k,typical,top_p,temperature,min_p"
    at.segmented_control(key="order_preset").set_value("transformers").run()
    assert at.session_state["order"] == ""


def test_presets_set_every_step(open_app):
    at = open_app("sampling", top_k="5", presence_penalty="1")
    at.button(key="preset_greedy").click().run()
    assert at.slider(key="temperature").value == 0
    assert at.slider(key="top_k").value == 0
    assert at.slider(key="presence_penalty").value == 0
    assert "argmax" in bars(at, "temperature")["note"]


def test_a_bias_is_picked_by_word(open_app):
    at = open_app("sampling")
    at.text_input(key="bias_word").set_value("cat").run()
    assert any("2 tokens" in caption.value or "1 token" in caption.value for caption in at.caption)
    at.slider(key="bias_size").set_value(50.0).run()
    button = next(b for b in at.button if b.key and b.key.startswith("bias_after_0_"))
    token_id = button.key.rsplit("_", 1)[1]
    button.click().run()
    assert at.session_state["logit_bias"] == f"{token_id}:50"
    assert bars(at, "softmax")["rows"][0]["after"] > 0.9
    at.button(key=f"unbias_{token_id}").click().run()
    assert at.session_state["logit_bias"] == ""


WORDS = """
Anna Peter Maria Łukasz Zoë Nguyễn Ångström Jürgen Mohammed Oğuz São Przemysław Mississippi Москва
Massachusetts Saskatchewan Kraków İstanbul 北京 banana hottentottententententoonstelling x-ray
unbelievable aaaa aaaaaaaa abab 1000000 🎉🎉 naïve O'Neill <b>b</b>
"""


@pytest.mark.parametrize("word", WORDS.split())
def test_the_pieces_of_any_word_can_be_picked_with_and_without_a_space(open_app, word):
    at = open_app("sampling")
    at.text_input(key="bias_word").set_value(word).run()
    assert not at.exception, word
    for text in (" " + word, word):
        ids = [token.id for token in tiny_tokenizer().encode(text)][:6]
        place = "after" if text.startswith(" ") else "start"
        keys = {button.key for button in at.button}
        assert {f"bias_{place}_{index}_{token}" for index, token in enumerate(ids)} <= keys


@pytest.mark.parametrize(
    "link",
    [
        {"temperature": "0"},
        {"temperature": "1"},
        {"temperature": "0.000001"},
        {"top_p": "0"},
        {"top_p": "1"},
        {"top_k": "1"},
        {"min_p": "1"},
        {"repetition_penalty": "0.5"},
        {"typical_p": "0.01"},
        {"temperature": "0", "top_p": "0", "min_p": "1", "top_k": "1", "typical_p": "0.01"},
    ],
    ids=str,
)
def test_hard_values_leave_something_to_draw(open_app, link):
    at = open_app("sampling", **link)
    last = bars(at, "softmax")
    assert any(row["kind"] == "token" and row["kept"] for row in last["rows"])
    assert "NaN" not in str(last)


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"logit_bias": "999999:5"}, "logit_bias names token 999999"),
        ({"logit_bias": "5:huge"}, "5:huge"),
        ({"order": "top_k"}, "can't be read"),
        ({"logit_bias": ",".join(f"{i}:-inf" for i in range(384))}, "bans every token"),
    ],
    ids=["unknown id", "no number", "half an order", "all banned"],
)
def test_what_cannot_be_is_said_and_the_page_lives(open_app, link, sentence):
    for key in ("sampling", "attention"):
        at = open_app(key, **link)
        assert sentence in texts(at).replace("\\", "")
    assert question_of(at)


def test_no_slider_runs_the_model(open_app, monkeypatch):
    at = open_app("sampling")
    passes = []

    def counting(*arguments, **named):
        passes.append(arguments)
        return observed(*arguments, **named)

    monkeypatch.setattr("engine.tracing.trace.observed", counting)
    monkeypatch.setattr(
        "engine.kv_cache.cached_pass.CachedPass.advance", lambda *_: passes.append("cached")
    )
    for key, value in (
        ("temperature", 1.5),
        ("top_k", 9),
        ("top_p", 0.5),
        ("min_p", 0.2),
        ("typical_p", 0.5),
        ("repetition_penalty", 1.5),
        ("presence_penalty", 1.0),
        ("penalty_window", 2),
    ):
        at.slider(key=key).set_value(value).run()
        assert not at.exception
    assert passes == []


@pytest.mark.parametrize("view", VIEWS)
def test_each_part_of_the_laboratory_runs(open_app, view):
    at = open_app("sampling", lab=view)
    assert not at.exception
    assert not at.warning


def test_beams_are_searched_on_demand(open_app):
    at = open_app("sampling", lab="Beams", beam_tokens="3")
    assert not at.get("plotly_chart")
    at.button(key="beam_search").click().run()
    assert not at.exception
    assert len(at.get("plotly_chart")) == 1
    assert at.dataframe[0].value["way"].tolist()[:2] == ["beams: the winner", "greedy"]


def test_a_and_b_write_from_the_same_seed(open_app):
    at = open_app("sampling", lab="A and B", settings_A="Greedy", settings_B="Greedy")
    at.button(key="ab_write").click().run()
    assert not at.exception
    first, second = kept(at, "ab_texts")
    assert first == second
    assert first


def test_in_depth_and_what_to_try(open_app):
    prompt = "Why is the sky blue?"  # after which this random model is sure enough
    at = open_app("sampling", prompt=prompt, temperature="0.05", top_p="1")
    at.session_state["view"] = "In depth"
    at.run()
    assert "The order matters" in texts(at)
    assert "top-k is **50**" in texts(at)
    at.session_state["view"] = "Try this"
    at.run()
    assert "Done. The top token has" in texts(at)
    assert texts(at).count("Not yet.") == 2


def test_presence_and_frequency_count_the_answer_or_the_prompt_too(open_app):
    at = open_app("sampling", prompt="London London London", frequency_penalty="0.8")
    plain = bars(at, "softmax")["rows"]
    card = bars(at, "count_penalties")
    assert card["formula"] == "logit − 0 − 0.8 × count, for each token of the answer"
    assert "The prompt is not counted" in card["note"]
    assert all(row["before"] == row["after"] for row in card["rows"])
    at.segmented_control(key="counted").set_value("llama.cpp").run()
    assert not at.exception
    card = bars(at, "count_penalties")
    assert card["formula"].endswith("for each token of the whole prompt")
    assert card["note"] == ""
    assert any(row["before"] != row["after"] for row in card["rows"])
    linked = open_app(
        "sampling", prompt="London London London", frequency_penalty="0.8", counted="llama.cpp"
    )
    assert bars(linked, "count_penalties") == card
    assert bars(linked, "softmax")["rows"] != plain


def test_a_chat_names_the_templates_tokens_on_the_penalty_card(open_app):
    at = open_app("sampling", chat="true", repetition_penalty="1.3")
    note = bars(at, "repetition_penalty")["note"]
    assert "The chat template's own tokens are lowered with the rest" in note
    assert "is the end token" in note
    at = open_app("sampling", repetition_penalty="1.3")
    assert bars(at, "repetition_penalty")["note"] == ""


def test_a_preset_is_the_same_on_its_button_and_in_the_comparison(open_app):
    link = {
        "order": "llama.cpp",
        "counted": "llama.cpp",
        "logit_bias": "5:3",
        "penalty_window": "9",
    }
    for preset in PRESETS:
        at = open_app("sampling", **link)
        at.button(key=f"preset_{preset.name.lower().replace(' ', '_')}").click().run()
        assert at.session_state["order"] == ""
        assert at.session_state["counted"] == "OpenAI, vLLM"
        assert at.session_state["logit_bias"] == ""
        chosen = settings_of(preset.name)
        for name in ("temperature", "top_k", "top_p", "min_p", "typical_p", "penalty_window"):
            assert at.session_state[name] == pytest.approx(getattr(chosen, name))
