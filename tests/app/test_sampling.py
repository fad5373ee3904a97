"""The sampling page on the tiny model: cards, order, presets, hard values, and no forward pass."""

from __future__ import annotations

import json

import pytest

from components.sampling.cards import CARDS
from components.sampling.parts import PARTS
from components.sampling.presets import FORMERLY, PRESETS, SETTINGS, settings_of
from engine.observe.hooks import observed
from tests.app.conftest import kept
from tests.app.hands import question_of
from tests.app.test_frame import texts
from tests.tiny import tiny_tokenizer

OLD_NAMES = {"Sweeps": "Turn one knob", "A and B": "Compare two settings", "Beams": "Beam search"}
STEPS = tuple(CARDS)


def bars(at, name):
    """What the card of a step draws."""
    for element in at.get("bidi_component"):
        data = json.loads(element.proto.json) if element.proto.json else {}
        if element.proto.id.endswith(f"bars_{name}"):
            return data
    raise AssertionError(f"no card {name}")


def cut(at, name):
    return [row["kind"] for row in bars(at, name)["rows"]]


def chips(at):
    """What the line of steps shows, by step."""
    for element in at.get("bidi_component"):
        if element.proto.id.endswith("step_line"):
            return {chip["name"]: chip for chip in json.loads(element.proto.json)["chips"]}
    raise AssertionError("no line of steps")


def test_a_step_opens_its_card_with_switch_and_slider(open_app):
    at = open_app("sampling", temperature="0.7", top_p="1", open_step="top_k")
    assert not at.toggle(key="on_top_k").value
    assert not chips(at)["top_k"]["on"]
    at.slider(key="top_k").set_value(3).run()
    assert at.toggle(key="on_top_k").value
    assert "384 → 3" in bars(at, "top_k")["facts"]
    assert "cut" in cut(at, "top_k")
    assert chips(at)["top_k"] | {"label": "Top-k", "value": "3", "on": True} == chips(at)["top_k"]


@pytest.mark.parametrize("step", STEPS)
def test_every_step_can_be_open_and_every_setting_has_one_field(open_app, step):
    at = open_app("sampling", open_step=step)
    assert [name for name, chip in chips(at).items() if chip["open"]] == [step]
    assert bars(at, step)["formula"]
    for key in SETTINGS:  # a second one with the same key would be an exception
        assert at.slider(key=key) is not None
    for part in PARTS[1:3]:
        at.session_state["lab"] = part
        at.run()
        assert not at.exception
        assert all(at.slider(key=key) is not None for key in SETTINGS)


def test_the_line_of_steps_follows_the_order_and_says_the_values(open_app):
    at = open_app("sampling", order="llama.cpp", top_k="7", presence_penalty="0.5")
    line = chips(at)
    names = ["top_k", "typical", "top_p", "min_p", "temperature"]
    assert list(line) == ["logit_bias", "repetition_penalty", "count_penalties", *names, "softmax"]
    assert line["count_penalties"]["value"] == "0.5 / 0"
    on = [name for name, chip in line.items() if chip["on"]]
    assert on == ["count_penalties", "top_k", "top_p", "temperature", "softmax"]


def test_the_temperature_stands_alone_with_its_bars(open_app):
    at = open_app("sampling", temperature="0.5", top_p="1")
    main = bars(at, "main")
    assert main["title"].startswith("T = 0.5: the likeliest gains, ")
    assert main["rows"][0]["after"] > main["rows"][0]["before"]
    at.slider(key="temperature").set_value(0.0).run()
    assert "T = 0 leaves " in bars(at, "main")["title"]


def test_a_switch_keeps_the_number_and_brings_it_back(open_app):
    at = open_app("sampling", top_k="7", open_step="top_k")
    at.toggle(key="on_top_k").set_value(False).run()
    assert at.slider(key="top_k").value == 0
    at.toggle(key="on_top_k").set_value(True).run()
    assert at.slider(key="top_k").value == 7


def test_steps_can_be_moved_and_presets_of_the_order_taken(open_app):
    at = open_app("sampling", open_step="temperature")
    at.button(key="move_right_temperature").click().run()
    assert at.session_state["order"] == "top_k,temperature,top_p,min_p,typical"
    at.segmented_control(key="order_preset").set_value("llama.cpp").run()
    assert at.session_state["order"] == "llama.cpp"
    at.button(key="move_left_temperature").click().run()
    assert at.session_state["order"] == "top_k,typical,top_p,temperature,min_p"
    at.segmented_control(key="order_preset").set_value("transformers").run()
    assert at.session_state["order"] == ""


def test_presets_set_every_step_and_the_one_that_is_on_is_marked(open_app):
    at = open_app("sampling", top_k="5", presence_penalty="1", open_step="temperature")
    assert at.session_state["preset"] is None
    take(at, "Greedy (always the top)")
    assert at.slider(key="temperature").value == 0
    assert at.slider(key="top_k").value == 0
    assert at.slider(key="presence_penalty").value == 0
    assert "argmax" in bars(at, "temperature")["note"]
    assert at.session_state["preset"] == "Greedy (always the top)"
    at.slider(key="temperature").set_value(0.45).run()
    assert at.session_state["preset"] is None
    take(at, "Very flat")
    at.button(key="undo_change").click().run()
    assert at.slider(key="temperature").value == 0.45


def test_the_usual_settings_are_a_preset(open_app):
    assert open_app("sampling").session_state["preset"] == "A little sharper"


def take(at, name):
    """Press a preset."""
    at.button_group(key="preset").set_value(name).run()
    assert not at.exception


def test_a_bias_is_picked_by_word(open_app):
    at = open_app("sampling", open_step="logit_bias")
    at.text_input(key="bias_word").set_value("cat").run()
    assert any("2 tokens" in caption.value or "1 token" in caption.value for caption in at.caption)
    at.slider(key="bias_size").set_value(50.0).run()
    button = next(b for b in at.button if b.key and b.key.startswith("bias_after_0_"))
    token_id = button.key.rsplit("_", 1)[1]
    button.click().run()
    assert at.session_state["logit_bias"] == f"{token_id}:50"
    assert bars(at, "main")["rows"][0]["after"] > 0.9
    at.button(key=f"unbias_{token_id}").click().run()
    assert at.session_state["logit_bias"] == ""


WORDS = """
Anna Peter Maria Łukasz Zoë Nguyễn Ångström Jürgen Mohammed Oğuz São Przemysław Mississippi Москва
Massachusetts Saskatchewan Kraków İstanbul 北京 banana hottentottententententoonstelling x-ray
unbelievable aaaa aaaaaaaa abab 1000000 🎉🎉 naïve O'Neill <b>b</b>
"""


@pytest.mark.parametrize("word", WORDS.split())
def test_the_pieces_of_any_word_can_be_picked_with_and_without_a_space(open_app, word):
    at = open_app("sampling", open_step="logit_bias")
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
    at = open_app("sampling", open_step="softmax", **link)
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


@pytest.mark.parametrize("part", [*PARTS[1:], *OLD_NAMES])
def test_each_part_runs_by_its_name_of_today_and_by_that_of_older_links(open_app, part):
    at = open_app("sampling", lab=part)
    assert not at.exception
    assert not at.warning
    assert at.session_state["lab"] == OLD_NAMES.get(part, part)


def test_beams_open_with_a_result(open_app):
    at = open_app("sampling", lab="Beam search", beam_tokens="3")
    assert len(at.get("plotly_chart")) == 1
    assert at.dataframe[0].value["way"].tolist()[:2] == ["beams: the winner", "greedy"]
    at.slider(key="beam_width").set_value(2).run()
    assert not at.exception
    assert kept(at, "beams_found")[0].width == 2


def test_a_and_b_write_from_the_same_seed(open_app):
    link = {"lab": "Compare two settings", "settings_A": "Greedy", "settings_B": "Greedy"}
    at = open_app("sampling", **link)
    assert at.session_state["settings_A"] == FORMERLY["Greedy"]
    first, second = kept(at, "ab_texts")
    assert first == second
    assert len(first) == 30
    assert texts(at).count("Cut after 30 tokens") == 2


def test_sharpness_shows_two_groups_an_example_and_what_a_probability_is_worth(open_app):
    at = open_app("sampling", lab="Sharpness")
    assert len(at.get("plotly_chart")) == 3
    assert "The likeliest token is right in 55" in texts(at)
    assert "In 3 of the 13 the likeliest token is “the”" in texts(at)


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
    link = {
        "prompt": "London London London",
        "frequency_penalty": "0.8",
        "open_step": "count_penalties",
    }
    at = open_app("sampling", **link)
    plain = bars(at, "main")["rows"]
    card = bars(at, "count_penalties")
    assert card["formula"] == "logit − 0 − 0.8 × count, for each token of the answer"
    assert "The prompt is not counted" in card["note"]
    assert all(row["before"] == row["after"] for row in card["rows"])
    at.segmented_control(key="counted").set_value("llama.cpp").run()
    assert not at.exception
    card = bars(at, "count_penalties")
    assert card["formula"].endswith("for each token of the text so far")
    assert card["note"] == ""
    assert any(row["before"] != row["after"] for row in card["rows"])
    linked = open_app("sampling", counted="llama.cpp", **link)
    assert bars(linked, "count_penalties") == card
    assert bars(linked, "main")["rows"] != plain


def test_a_chat_names_the_templates_tokens_on_the_penalty_card(open_app):
    at = open_app("sampling", chat="true", repetition_penalty="1.3", open_step="repetition_penalty")
    note = bars(at, "repetition_penalty")["note"]
    assert "The chat template's own tokens are lowered with the rest" in note
    assert "is the end token" in note
    at = open_app("sampling", repetition_penalty="1.3", open_step="repetition_penalty")
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
        take(at, preset.name)
        assert at.session_state["order"] == ""
        assert at.session_state["counted"] == "OpenAI, vLLM"
        assert at.session_state["logit_bias"] == ""
        chosen = settings_of(preset.name)
        for name in ("temperature", "top_k", "top_p", "min_p", "typical_p", "penalty_window"):
            assert at.session_state[name] == pytest.approx(getattr(chosen, name))
