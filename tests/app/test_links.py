"""Links: what a page remembers is in its address, and comes back from it in another session."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest

from components.link import state
from components.link.state import LIMITS, LONGEST, PAGE_LIMITS
from tests.app.test_frame import texts

OF_THE_SESSION = {"NOTICES", "LINK", "SHOWN_STAGE"}
"""Names of `components.link.state` that are in no link."""
NAMES = {
    value
    for name, value in vars(state).items()
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
            state.PROMPT: MARKUP,
            state.CHAT: True,
            state.LOGIT_BIAS: "5:-3",
            state.ORDER: "llama.cpp",
            state.SHOW_GUARDS: True,
            **{
                entry.key: entry.number(entry.high)
                for entry in LIMITS
                if entry.key not in {state.TYPICAL_P, state.MAX_NEW_TOKENS}
            },
            state.TYPICAL_P: 0.5,
        },
    ),
    Case("tokenizer", {}, {state.VIEW: "In depth"}),
    Case(
        "tokenizer",
        {state.TOKEN: 1, state.EXPERIMENT: "letters"},
        {state.TOKENIZER_VIEW: "Tokens are not words"},
    ),
    Case(
        "embedding",
        {state.ORDER_FIRST: MARKUP, state.ORDER_SECOND: "a\x00b"},
        {state.EMBEDDING_VIEW: "Order"},
    ),
    Case(
        "embedding",
        {
            state.LAYER: 1,
            state.HEAD: 2,
            state.TOKEN: 3,
            state.ROPE_PAIR: 1,
            state.ROPE_KEY: 2,
            state.ROPE_SHIFT: 55,
            state.HANDS_OF: "key",
        },
        {state.EMBEDDING_VIEW: "Position"},
    ),
    Case("attention", {state.ATTENTION_STEP: "4. scale"}, {state.HEAD_PICTURE: "Step by step"}),
    Case("attention", {state.WITHOUT_FIRST: True, state.LOG_PATTERN: True}),
    Case("attention", {state.TOKEN: 3, state.READ: 1}, {state.ATTENTION_VIEW: "One cell"}),
    Case("attention", {state.RACE_STEPS: 30}, {state.ATTENTION_VIEW: "KV cache"}),
    Case("attention", {state.EDITS: "h1.2"}, {state.ATTENTION_VIEW: "Take a part away"}),
    Case("feed_forward", {state.BLOCK_BOX: "norm_1"}),
    Case("feed_forward", {state.NEURON: 5}, {state.BLOCK_VIEW: "Neurons"}),
    Case(
        "feed_forward", {state.ANSWER_TYPED: " cat"}, {state.BLOCK_VIEW: "When the answer appears"}
    ),
    Case("lm_head", {state.HEAD_TOKEN: 9}),
    Case("lm_head", {state.SECOND_PROMPT: MARKUP}, {state.HEAD_VIEW: "Two prompts"}),
    Case("sampling", {state.SWEEP_PROMPT: MARKUP}, {state.SAMPLING_VIEW: "Sweeps"}),
    Case(
        "sampling",
        {state.SETTINGS_A: "Precise", state.SETTINGS_B: "Chaotic"},
        {state.SAMPLING_VIEW: "A and B"},
    ),
    Case(
        "sampling",
        {state.BEAM_WIDTH: 5, state.BEAM_TOKENS: 2, state.BEAM_PENALTY: -0.5},
        {state.SAMPLING_VIEW: "Beams"},
    ),
    Case("generation", {state.MAX_NEW_TOKENS: 3, state.STOP: MARKUP}),
    Case("speculative", {}, {state.DRAFT_QUESTION: "Same distribution?"}),
    Case("speculative", {state.EXIT_LAYERS: 2, state.GUESSES: 7}, {state.DRAFT: "Early exit"}),
    Case("guardrails", {state.FORGED_ORDER: MARKUP}, {state.GUARD: "Special tokens"}),
    Case(
        "guardrails",
        {
            state.GUARD_WORD: "cat",
            state.GUARD_TOPIC: MARKUP,
            state.GUARD_SYSTEM: "The cat sat.",
            state.GUARD_QUESTION: MARKUP,
            state.GUARD_PARAPHRASE: "Who sat?",
            state.GUARD_TRANSLATION: "Où ?",
            state.GUARD_RULE: "Never.",
            state.WORDING: "another language",
        },
        {state.GUARD: "Input filter"},
    ),
    Case(
        "guardrails",
        {state.FORMAT_KEYS: "a, b"},
        {state.GUARD: "Format", state.FORMAT: "A JSON object"},
    ),
    Case(
        "training",
        {
            state.LEARN_START: MARKUP,
            state.LEARN_ANSWER: "sat",
            state.LEARN_STEPS: 3,
            state.LEARN_RATE: 1e-3,
        },
    ),
    Case("training", {state.LOSS_TEXT: MARKUP}, {state.LESSON: "The only task"}),
    Case(
        "training",
        {
            state.DPO_PROMPT: MARKUP,
            state.DPO_PREFERRED: "a cat",
            state.DPO_OTHER: "a mat",
            state.DPO_STEPS: 2,
            state.DPO_RATE: 1e-5,
            state.DPO_BETA: 0.25,
        },
        {state.LESSON: "Preference"},
    ),
)
OPENED = tuple(dict.fromkeys((case.page, key) for case in CASES for key in case.opened))
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def wrong(key: str, value: object) -> str:
    """Return what a link can't say for a value of this kind."""
    if key in LONGEST:
        return "x" * (LONGEST[key] + 1)
    return "maybe" if isinstance(value, bool | str) else "99999999999"


def kept(at, keys) -> dict[str, object]:
    """Return those values that a session has."""
    return {key: at.session_state[key] for key in keys if key in at.session_state}


def click(at, values, monkeypatch) -> None:
    """Run the page with values that are set before its widgets are drawn, as callbacks do."""
    import streamlit as st

    read_link = state.read_link

    def read_and_set() -> None:
        read_link()
        for key, value in values.items():
            st.session_state[key] = value

    with monkeypatch.context() as patch:
        patch.setattr(state, "read_link", read_and_set)
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
    right = {key: value for key, value in case.values.items() if key in shared | {state.PROMPT}}
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
    *(state.LAYER, state.HEAD, state.TOKEN, state.READ, state.NEURON, state.EXIT_LAYERS),
    *(state.ROPE_PAIR, state.ROPE_KEY, state.ROPE_SHIFT, state.HEAD_TOKEN),
    *(state.LEARN_RATE, state.DPO_RATE),
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
    assert at.session_state[state.MODEL] == str(tiny_folder)


@pytest.mark.parametrize(("text", "value"), [("1", 0), ("2.5", 0), ("-1", 0), ("many", 0)])
def test_a_prompt_of_one_token_has_its_first_token_chosen_whatever_the_link(open_app, text, value):
    at = open_app("tokenizer", prompt="a", token=text)
    assert at.session_state[state.TOKEN] == value
    assert "Token in the link was" in texts(at)


def test_each_page_opens_with_its_picture(open_app):
    at = open_app("tokenizer", view="In depth")
    at.switch_page("pages/attention/page.py").run()
    assert at.session_state[state.VIEW] == "Visual"


def test_every_name_of_a_link_is_tried_here():
    # An answer has to be written before there is a closer look at it.
    elsewhere = {state.ANSWER_VIEW, state.MODEL}
    assert {key for case in CASES for key in case.values | case.opened} == NAMES - elsewhere
