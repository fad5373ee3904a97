"""The overview picture: its words, its links, its text twin, and that markup stays text."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from streamlit.testing.v1 import AppTest

from components.kit.browser import COMPONENTS
from components.overview import cards as overview_cards
from components.overview import flow, walk
from components.overview.recorded import RECORDING, TOKENS, recorded_run
from components.shell.example_prompts import DEFAULT_PROMPT
from components.shell.stages import STAGES
from engine.overview.facts import DetokenizerFact, Overview, Segment, TurnFact
from tests.components.sample_overview import sample_overview

KEYS = [stage.key for stage in STAGES]


def test_cards_show_this_prompts_values():
    cards = overview_cards.cards(sample_overview(written=(" Because",)))

    assert cards["text"]["prompt"] == "Why is the sky blue?"
    assert cards["text"]["written"] == " Because"
    assert cards["tokens"]["fact"] == "7 tokens"
    assert [row["piece"] for row in cards["tokens"]["rows"]] == [
        "Why",
        "·is",
        "·the",
        "·sky",
        "·blue",
        "?",
        "·Because",
    ]
    assert [row["written"] for row in cards["tokens"]["rows"]] == [False] * 6 + [True]
    assert cards["vectors"]["fact"] == "576 numbers each"
    assert cards["block"]["title"] == "Block × 30"
    assert cards["attention"]["head"] == "Layer 4, head 2 looks one token back"
    assert cards["attention"]["cache"] == "KV cache: 6 kept + 1 new, 323 kB"
    assert cards["attention"]["removal"] == "without it ⏎ 41 % → 12 %: it matters"
    assert cards["feed_forward"]["fact"] == "576 → 1,536 → 576"
    assert cards["scores"]["bars"][0] == {
        "piece": "⏎",
        "percent": "41 %",
        "share": 1.0,
        "drawn": True,
    }
    assert cards["pick"]["note"] == "T = 0.8, top-k 40, top-p 0.9"
    assert cards["pick"]["at"] == [0.02, 0.43]
    assert cards["detokenizer"]["outcome"] == "becomes “⏎”"


def test_a_long_prompt_shows_its_ends_and_the_count_of_the_rest():
    cards = overview_cards.cards(sample_overview(tuple(f" word{i}" for i in range(256))))
    rows = cards["tokens"]["rows"]

    assert cards["tokens"]["fact"] == "256 tokens"
    assert len(rows) == overview_cards.TOKEN_ROWS
    assert rows[3] == {"gap": "247 more"}
    assert [row["piece"] for row in rows if "piece" in row] == [
        "·word0",
        "·word1",
        "·word2",
        *(f"·word{i}" for i in range(250, 256)),
    ]
    assert "1,858 characters" in cards["text"]["prompt"]
    assert len(cards["text"]["prompt"]) < 130


def test_a_token_that_is_half_a_character_is_shown_as_bytes():
    assert overview_cards.piece("f09f") == "⟨F0 9F⟩"
    assert overview_cards.piece(b" the\n".hex()) == "·the⏎"
    assert overview_cards.piece(b"aaaaaaaaaa".hex(), 5) == "aaaa…"


def test_an_unlikely_draw_is_on_the_bar_too():
    facts = sample_overview()
    tail = Segment(7, b" Well".hex(), 0.9178, 0.921)
    facts = replace(facts, sampling=replace(facts.sampling, u=0.918, drawn=tail))
    card = overview_cards.cards(facts)["pick"]

    assert [part["piece"] for part in card["segments"] if part["drawn"]] == ["·Well"]
    assert [part["start"] for part in card["segments"]] == [0.02, 0.45, 0.7, 0.82, 0.9, 0.9178]


def test_temperature_zero_says_that_nothing_is_left_to_chance():
    facts = sample_overview()
    card = overview_cards.cards(
        replace(facts, sampling=replace(facts.sampling, temperature=0.0, survivors=1))
    )["pick"]

    assert (card["fact"], card["u"], card["how"]) == (
        "takes the top",
        None,
        "temperature 0 takes the top",
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {},
            "Sampling with temperature 0.8, top-k 40, top-p 0.9 leaves {n} tokens. The random "
            "number u = {u:.3f} falls on ⏎, which has probability 41 %.",
        ),
        (
            {"survivors": 1},
            "Sampling with temperature 0.8, top-k 40, top-p 0.9 leaves 1 token, ⏎, so that is the "
            "one.",
        ),
        (
            {"temperature": 0.0, "survivors": 1},
            "Sampling: temperature 0 takes the top token, ⏎; nothing is left to chance.",
        ),
    ],
)
def test_the_pick_is_told_in_sentences(changes, said):
    facts = sample_overview()
    sampling = replace(facts.sampling, **changes)
    summary = overview_cards.cards(replace(facts, sampling=sampling))["pick"]["summary"]
    assert summary == said.format(n=facts.sampling.survivors, u=facts.sampling.u)


def test_one_of_a_kind_is_not_counted_as_many():
    facts = sample_overview(("a",))
    one = replace(facts, detokenizer=DetokenizerFact("41", "A", "", False))
    said = flow.as_text(one)
    assert "is cut into 1 token, " in said
    assert "The drawn token is 1 byte and " in said
    assert not re.search(r"\b1 (tokens|bytes|characters)\b", said)


@pytest.mark.parametrize(
    ("fact", "outcome"),
    [
        (DetokenizerFact("f09f", "", "f09f", False), "waits for the rest of the character"),
        (DetokenizerFact("00", "", "", True), "an end token: the run stops"),
    ],
)
def test_the_detokenizer_says_what_happens_to_the_bytes(fact, outcome):
    card = overview_cards.cards(replace(sample_overview(), detokenizer=fact))["detokenizer"]

    assert card["outcome"] == outcome


def test_cards_link_only_to_stages_that_have_a_page():
    def links(stages):
        return flow.payload(sample_overview(), stages=stages)["links"]

    assert links(KEYS)["scores"] == "lm_head"
    assert links(KEYS)["detokenizer"] == "generation"
    assert links(KEYS)["speculative"] == "speculative"
    assert {link for link in links(KEYS).values() if link} <= set(KEYS) - {"overview"}
    assert links(["tokenizer"])["scores"] is None


def test_guards_are_marked_only_when_asked_for():
    assert flow.payload(sample_overview(), stages=KEYS)["guards"] == {}
    marked = flow.payload(sample_overview(), stages=KEYS, guards=True)["guards"]
    assert sum(len(places) for places in marked.values()) == 5


def test_the_light_moves_only_when_the_text_has_changed():
    def tick(**options):
        return flow.payload(sample_overview(**options), stages=KEYS)["tick"]

    assert tick() == tick()
    assert tick() != tick(written=(" The",))
    assert tick(written=(" The",)).startswith(tick())
    assert not tick().startswith(tick(written=(" The",)))


def test_prefill_is_drawn_as_many_tokens_side_by_side_and_decode_as_one():
    first, later = (
        overview_cards.cards(sample_overview(written=written)) for written in ((), (" The",))
    )
    assert (first["block"]["phase"], first["block"]["lanes"]) == ("prefill: 6 tokens at once", 5)
    assert (later["block"]["phase"], later["block"]["lanes"]) == ("decode: 1 new token", 1)
    assert (first["attention"]["cache_new"], later["attention"]["cache_new"]) == (6, 1)
    assert first["attention"]["cache"] == "KV cache: 6 rows, 276 kB"


def test_a_head_that_is_not_missed_is_said_not_to_matter():
    facts = sample_overview()
    removal = replace(facts.head.removal, after=0.42)
    facts = replace(facts, head=replace(facts.head, removal=removal))
    said = overview_cards.cards(facts)["attention"]["removal"]
    assert said == "without it ⏎ 41 % → 42 %: looking is not mattering"


def test_a_chat_turn_is_shown_as_turns_and_not_as_the_template():
    turns = (
        TurnFact("system", "You are a helpful AI assistant named SmolLM."),
        TurnFact("user", "Why is the <b>sky</b> blue?"),
        TurnFact("assistant", ""),
    )
    shown = overview_cards.cards(replace(sample_overview(), turns=turns))["text"]["turns"]
    assert [(turn["who"], turn["words"], turn["own"]) for turn in shown] == [
        ("system (nobody typed this)", "You are a helpful AI assistant named SmolLM.", False),
        ("you", "Why is the <b>sky</b> blue?", False),
        ("the model", "…", True),
    ]


@pytest.mark.parametrize("written", [(), (" The",)])
def test_the_walk_has_one_sentence_with_live_numbers_for_each_stage(written):
    steps = walk.steps(sample_overview(written=written))
    order = "text tokens vectors attention feed_forward lens scores pick detokenizer"
    assert [step["card"] for step in steps] == order.split()
    said = {step["card"]: step["sentence"] for step in steps}
    assert f"{7 if written else 6} tokens" in said["tokens"]
    assert ("in one pass" in said["attention"]) is (not written)
    assert said["scores"].endswith("On top: ⏎, 41 %.")
    assert "0.312, falls on ⏎ (41 %)" in said["pick"]
    assert all(len(sentence) < 170 for sentence in said.values())


def test_a_walk_that_hides_the_answer_leaves_out_who_tells_it():
    shown = walk.steps(sample_overview(next_text="secret"), hides=True)
    assert [step["card"] for step in shown] == [
        "text",
        "tokens",
        "vectors",
        "attention",
        "feed_forward",
    ]
    assert "secret" not in str(shown)
    assert flow.payload(sample_overview(), stages=KEYS, hides=True)["hides"]


def test_everything_on_the_picture_tells_what_it_is():
    cards = overview_cards.cards(sample_overview())
    told = {name: set(card["explain"]) for name, card in cards.items() if "explain" in card}
    assert told == {
        "tokens": {"rows"},
        "vectors": {"cells", "order", "dials"},
        "block": {"note", "phase", "lens"},
        "attention": {"pattern", "head", "cache"},
        "feed_forward": {"norms"},
        "scores": {"bars"},
        "pick": {"draw", "note"},
        "detokenizer": {"bytes"},
    }
    script = (COMPONENTS / "overview" / "cards.js").read_text(encoding="utf-8")
    script += (COMPONENTS / "overview" / "flow.js").read_text(encoding="utf-8")
    for name in set().union(*told.values()):
        assert f'"{name}"' in script, f"nothing on the picture tells “{name}”"


def test_markup_reaches_the_browser_as_plain_text():
    evil = ("<img src=x onerror=alert(1)>", " $x$", " **b**", " :smile:")
    payload = flow.payload(sample_overview(evil), stages=KEYS)

    assert payload["cards"]["text"]["prompt"] == "".join(evil)
    assert payload["cards"]["tokens"]["rows"][0]["piece"] == "<img·src=x·on…"


def test_the_browser_code_never_parses_text_as_markup():
    for script in (COMPONENTS / "overview").glob("*.js"):
        code = script.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval", code)


def test_the_text_twin_goes_through_all_stages_in_order():
    lines = flow.as_text(sample_overview()).splitlines()

    assert [line.split()[0] for line in lines] == [
        "The",
        "The",
        "Each",
        "9",
        "The",
        "The",
        "Sampling",
        "The",
        "Speculative",
    ]
    assert "Most probable: ⏎ 41 %, ·The 22 %" in lines[5]


def test_the_recording_is_small_complete_and_reads_back():
    steps = recorded_run()

    assert RECORDING.stat().st_size <= 200_000
    assert len(steps) == TOKENS + 1
    assert steps[0].text == DEFAULT_PROMPT
    assert len(steps[0].tokens) == 6
    for before, after in pairwise(steps):
        assert after.tokens[-1].id == before.sampling.drawn.id
        assert after.generated == before.generated + before.detokenizer.released
        assert after.head.removal.id == after.candidates[0].id


def test_a_picture_is_a_small_payload():
    payload = flow.payload(recorded_run()[-1], stages=KEYS, guards=True)

    assert len(json.dumps(payload)) < 25_000


def test_a_damaged_recording_is_named():
    data = sample_overview().to_json()
    assert Overview.from_json(json.loads(json.dumps(data))) == sample_overview()
    del data["sampling"]["u"]
    with pytest.raises(ValueError, match=r"lacks SamplingFact\.u"):
        Overview.from_json(data)


def test_the_picture_is_drawn_and_opens_nothing_by_itself():
    def script():
        import streamlit as st

        from components.overview.flow import overview_flow
        from components.overview.recorded import recorded_run

        st.text(repr(overview_flow(recorded_run()[0], stages=["attention"], recorded=True)))

    at = AppTest.from_function(script, default_timeout=60).run()

    assert not at.exception
    assert at.text[0].value == "None"
