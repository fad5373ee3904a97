"""Links: what a page remembers is in its address, and comes back from it in another session."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest
import streamlit as st

from components.link import check, keys
from components.link.keys import LIMITS, LONGEST, PAGE_LIMITS
from tests.app.test_frame import texts

OF_THE_SESSION = {"SHOWN_STAGE", "NARROW", "ROOM", "FOLLOWED"}
"""Names of `components.link.keys` that are in no link, or in that of a class alone."""
NAMES = {
    value
    for name, value in vars(keys).items()
    if name.isupper() and isinstance(value, str) and name not in OF_THE_SESSION
}
MARKUP = "<b>x</b> *y* &?=#"


@dataclass(frozen=True)
class Case:
    """Values of one page that are on the screen together."""

    page: str
    values: dict[str, object]
    opened: dict[str, str] = field(default_factory=dict)
    """What has to stand open for them to be on the screen; it is in the link too."""

    @property
    def name(self) -> str:
        """Name the case in the list of tests."""
        return "-".join((self.page, *self.opened.values(), next(iter(self.values), "")))


CASES = (
    Case(
        "overview",
        {
            keys.PROMPT: MARKUP,
            keys.CHAT: True,
            keys.LOGIT_BIAS: "5:-3",
            keys.ORDER: "llama.cpp",
            keys.COUNTED: "llama.cpp",
            keys.SHOW_GUARDS: True,
            keys.PRESENT: "true",
            **{
                entry.key: entry.number(entry.high)
                for entry in LIMITS
                if entry.key not in {keys.TYPICAL_P, keys.MAX_NEW_TOKENS}
            },
            keys.TYPICAL_P: 0.5,
        },
    ),
    Case("overview", {}, {keys.VIEW: "In depth"}),
    Case(
        "tokenizer",
        {keys.OWN_WORD: "<b>x</b>"},
        {keys.TOKENIZER_PART: "Tokens are not words", keys.EXPERIMENT: "Your own name"},
    ),
    Case("tokenizer", {keys.TOKEN: 1}, {}),
    Case(
        "embedding",
        {keys.ORDER_FIRST: MARKUP, keys.ORDER_SECOND: "a\x00b", keys.ORDER_OFF: True},
    ),
    Case(
        "embedding",
        {
            keys.LAYER: 1,
            keys.HEAD: 2,
            keys.TOKEN: 3,
            keys.ROPE_PAIR: 1,
            keys.ROPE_KEY: 2,
            keys.ROPE_SHIFT: 55,
            keys.HANDS_OF: "key",
        },
        {keys.EMBEDDING_PART: "Position"},
    ),
    Case("attention", {keys.ATTENTION_STEP: "4. scale"}, {keys.ATTENTION_PICTURE: "Step by step"}),
    Case(
        "attention",
        {keys.WITHOUT_FIRST: True, keys.LOG_PATTERN: True},
        {keys.ATTENTION_PICTURE: "Matrix"},
    ),
    Case("attention", {keys.TOKEN: 3, keys.READ: 1}, {keys.ATTENTION_PART: "One cell"}),
    Case("attention", {keys.RACE_STEPS: 30}, {keys.ATTENTION_PART: "KV cache"}),
    Case("attention", {keys.EDITS: "h1.2"}, {keys.ATTENTION_PART: "Take a part away"}),
    Case("feed_forward", {keys.BLOCK_BOX: "norm_1"}, {keys.FEED_FORWARD_PART: "One block"}),
    Case("feed_forward", {keys.NEURON: 5}, {keys.FEED_FORWARD_PART: "Neurons"}),
    Case("feed_forward", {keys.ANSWER_TYPED: " cat"}),
    Case("lm_head", {keys.LM_HEAD_TOKEN: 9}),
    Case("lm_head", {keys.SECOND_PROMPT: MARKUP}, {keys.LM_HEAD_PART: "Two prompts"}),
    Case("lm_head", {keys.FACT_ASKED: "France backwards"}, {keys.LM_HEAD_PART: "Ways to ask"}),
    Case("sampling", {keys.SWEEP_PROMPT: MARKUP}, {keys.SAMPLING_PART: "Turn one knob"}),
    Case(
        "sampling",
        {keys.SETTINGS_A: "Sharp", keys.SETTINGS_B: "Very flat"},
        {keys.SAMPLING_PART: "Compare two settings"},
    ),
    Case(
        "sampling",
        {keys.BEAM_WIDTH: 5, keys.BEAM_TOKENS: 2, keys.BEAM_PENALTY: -0.5},
        {keys.SAMPLING_PART: "Beam search"},
    ),
    Case("sampling", {keys.OPEN_STEP: "top_k"}),
    Case("generation", {keys.MAX_NEW_TOKENS: 3, keys.STOP: MARKUP}),
    Case("speculative", {}, {keys.DRAFT_QUESTION: "Same distribution?"}),
    Case("speculative", {keys.EXIT_LAYERS: 2, keys.GUESSES: 7}, {keys.DRAFT: "Early exit"}),
    Case("guardrails", {keys.FORGED_ORDER: MARKUP}, {keys.GUARD: "Special tokens"}),
    Case(
        "guardrails",
        {
            keys.GUARD_WORD: "cat",
            keys.GUARD_TOPIC: MARKUP,
            keys.GUARD_MEANING: MARKUP,
            keys.GUARD_SYSTEM: "The cat sat.",
            keys.GUARD_QUESTION: MARKUP,
            keys.GUARD_PARAPHRASE: "Who sat?",
            keys.GUARD_TRANSLATION: "Où ?",
            keys.GUARD_RULE: "Never.",
            keys.WORDING: "another language",
        },
        {keys.GUARD: "Input filter"},
    ),
    Case("guardrails", {keys.HOLD_BACK: 3}, {keys.GUARD: "Output filter"}),
    Case(
        "guardrails",
        {keys.FORMAT_KEYS: "a, b"},
        {keys.GUARD: "Format", keys.FORMAT: "A JSON object"},
    ),
    Case(
        "training",
        {
            keys.LEARN_START: MARKUP,
            keys.LEARN_ANSWER: "sat",
            keys.LEARN_STEPS: 3,
            keys.LEARN_RATE: 1e-3,
        },
        {keys.LESSON: "One step of learning"},
    ),
    Case("training", {keys.LOSS_TEXT: MARKUP}, {keys.LESSON: "The only task"}),
    Case(
        "training",
        {
            keys.DPO_PROMPT: MARKUP,
            keys.DPO_PREFERRED: "a cat",
            keys.DPO_OTHER: "a mat",
            keys.DPO_STEPS: 2,
            keys.DPO_RATE: 1e-5,
            keys.DPO_BETA: 0.25,
        },
        {keys.LESSON: "Preference"},
    ),
)
OPENED = tuple(dict.fromkeys((case.page, key) for case in CASES for key in case.opened))
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def wrong(key: str, value: object) -> str:
    """Return what a link can't say for a value of this kind."""
    if key in LONGEST:
        return "x" * (LONGEST[key] + 1)
    return "maybe" if isinstance(value, bool | str) else "99999999999"


def kept(at, names) -> dict[str, object]:
    """Return those values that a session has."""
    return {name: at.session_state[name] for name in names if name in at.session_state}


def click(at, values, monkeypatch) -> None:
    """Run the page with values that are set before its widgets are drawn, as callbacks do."""
    read_link = check.read_link

    def read_and_set() -> None:
        read_link()
        for key, value in values.items():
            st.session_state[key] = value

    with monkeypatch.context() as patch:
        patch.setattr(check, "read_link", read_and_set)
        at.run()


@each_case
def test_another_session_on_the_link_shows_the_same(open_app, case, monkeypatch):
    values = case.opened | case.values
    first = open_app(case.page)
    before = kept(first, values)
    assert not {key for key in values if before.get(key) == values[key]}, "stands there anyway"
    # As the callback of a click sets them; twice, for what is on the screen only after the first.
    for _ in range(2):
        click(first, values, monkeypatch)
    assert not first.exception
    assert set(values) <= set(first.query_params) <= NAMES
    second = open_app(case.page, **first.query_params)
    assert kept(second, values) == values
    assert " in the link " not in texts(second)


@each_case
def test_values_in_a_link_that_cannot_be_fall_back_and_are_named(open_app, case):
    # What all pages share is checked, and named, on the page that a session opens first.
    shared = {entry.key for entry in LIMITS} if case.page != "overview" else set()
    right = {key: value for key, value in case.values.items() if key in shared | {keys.PROMPT}}
    link = {key: wrong(key, value) for key, value in case.values.items() if key not in right}
    at = open_app(case.page, **case.opened, **link)
    assert texts(at).count(" in the link ") == len(link)
    assert not {key: text for key, text in link.items() if at.query_params.get(key) == text}
    for key, value in kept(at, link).items():
        assert type(value) is type(case.values[key]), key
        assert str(value) != link[key]


HUGE = ("9" * 300, "1e400", "-" + "9" * 300, "9" * 5000, "1e308", "nan", "-inf", "0x10", "１e99")
NUMBERS = {
    *(entry.key for entry in (*LIMITS, *PAGE_LIMITS)),
    keys.LAYER,
    keys.HEAD,
    keys.TOKEN,
    keys.READ,
    keys.NEURON,
    keys.EXIT_LAYERS,
    keys.ROPE_PAIR,
    keys.ROPE_KEY,
    keys.ROPE_SHIFT,
    keys.LM_HEAD_TOKEN,
    keys.LEARN_RATE,
    keys.DPO_RATE,
}
"""Every value of a link that is a number."""
WHERE = {
    (case.page, *case.opened.items()): sorted(NUMBERS & set(case.values))
    for case in CASES
    if NUMBERS & set(case.values)
}
"""Page and view, and the numbers that have their widgets there."""


def huge(open_app, where, text) -> None:
    """Open a view with the same far too large text in each of its numbers."""
    page, *opened = where
    at = open_app(page, **dict(opened), **dict.fromkeys(WHERE[where], text))
    if page == "overview" or not set(WHERE[where]) <= {entry.key for entry in LIMITS}:
        assert " in the link was " in texts(at)
    for key, value in kept(at, WHERE[where]).items():
        assert abs(value) < 2**31, key


@pytest.mark.parametrize("where", WHERE, ids=[where[0] for where in WHERE])
def test_no_number_in_a_link_is_too_large_for_its_page(open_app, where):
    huge(open_app, where, HUGE[0])


@pytest.mark.parametrize("text", HUGE, ids=[text[:8] for text in HUGE])
def test_no_kind_of_huge_number_ends_the_pages(open_app, text):
    huge(open_app, ("overview",), text)


def test_every_number_of_a_link_is_tried_with_a_huge_value():
    assert set().union(*WHERE.values()) == NUMBERS


@pytest.mark.parametrize(("page", "key"), OPENED, ids=["-".join(entry) for entry in OPENED])
def test_a_view_that_there_is_not_falls_back_to_the_first_and_is_named(open_app, page, key):
    case = next(case for case in CASES if case.page == page and key in case.opened)
    others = {name: value for name, value in case.opened.items() if name != key}
    at = open_app(page, **others, **{key: "<b>none</b>"})
    assert re.search(r"in the link was “<b>none</b>”, which is none of .*; it is now ", texts(at))
    assert at.session_state[key] in texts(at)
    assert key not in at.query_params


def test_a_model_that_is_not_offered_is_named(open_app, tiny_folder):
    at = open_app(models=f"{tiny_folder},another/model", model="no/such")
    assert "Model in the link was “no/such”" in texts(at)
    assert at.session_state[keys.MODEL] == str(tiny_folder)


@pytest.mark.parametrize(("text", "value"), [("1", 0), ("2.5", 0), ("-1", 0), ("many", 0)])
def test_a_prompt_of_one_token_has_its_first_token_chosen_whatever_the_link(open_app, text, value):
    at = open_app("tokenizer", prompt="a", token=text)
    assert at.session_state[keys.TOKEN] == value
    assert "Token in the link was" in texts(at)


def test_each_page_opens_with_its_picture(open_app):
    at = open_app("tokenizer", view="In depth")
    at.switch_page("pages/attention/page.py").run()
    assert at.session_state[keys.VIEW] == "Visual"


def test_every_name_of_a_link_is_tried_here():
    # An answer has to be written before there is a closer look at it; the ten guesses have tests of
    # their own.
    lesson = {keys.TEN_GUESSES, keys.GUESSED, keys.BELIEVED}
    elsewhere = {keys.GENERATION_PART, keys.MODEL, *lesson}
    assert {key for case in CASES for key in case.values | case.opened} == NAMES - elsewhere
