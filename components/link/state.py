"""Names, limits and defaults of everything that is remembered: session keys and link parameters.

A bound widget's key is also the name of its parameter in the link, so a copied address restores
the prompt, the settings, the selection and what stands open on the page. Numbers that every page
shares are checked here, once; what belongs to one page is checked by `components.link.widgets`
where it is drawn. What a page remembers only for itself has its name there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

PROMPT = "prompt"
CHAT = "chat"
MODEL = "model"
LAYER = "layer"
HEAD = "head"
TOKEN = "token"
READ = "read"
NEURON = "neuron"
EDITS = "edits"
SEED = "seed"
TEMPERATURE = "temperature"
TOP_K = "top_k"
TOP_P = "top_p"
MIN_P = "min_p"
REPETITION_PENALTY = "repetition_penalty"
PRESENCE_PENALTY = "presence_penalty"
FREQUENCY_PENALTY = "frequency_penalty"
PENALTY_WINDOW = "penalty_window"
TYPICAL_P = "typical_p"
LOGIT_BIAS = "logit_bias"
ORDER = "order"
MAX_NEW_TOKENS = "max_new_tokens"
STOP = "stop"

VIEW = "view"
SHOW_GUARDS = "show_guards"

TOKENIZER_VIEW = "look"
EXPERIMENT = "experiment"

EMBEDDING_VIEW = "vectors"
ORDER_FIRST = "order_first"
ORDER_SECOND = "order_second"
ROPE_PAIR = "rope_pair"
ROPE_KEY = "rope_key"
ROPE_SHIFT = "rope_shift"
HANDS_OF = "hands_of"

ATTENTION_VIEW = "zoom"
HEAD_PICTURE = "picture"
ATTENTION_STEP = "step"
WITHOUT_FIRST = "without_first"
LOG_PATTERN = "log_pattern"
RACE_STEPS = "race_steps"

BLOCK_VIEW = "block"
BLOCK_BOX = "block_box"
ANSWER_TYPED = "answer_typed"

HEAD_VIEW = "scores"
HEAD_TOKEN = "lm_head_token"
SECOND_PROMPT = "second_prompt"

SAMPLING_VIEW = "lab"
SWEEP_PROMPT = "sweep_prompt"
SETTINGS_A = "settings_A"
SETTINGS_B = "settings_B"
BEAM_WIDTH = "beam_width"
BEAM_TOKENS = "beam_tokens"
BEAM_PENALTY = "beam_penalty"

ANSWER_VIEW = "closer"

DRAFT = "draft"
EXIT_LAYERS = "exit_layers"
GUESSES = "guesses"
DRAFT_QUESTION = "draft_question"

GUARD = "guard"
GUARD_WORD = "guard_word"
GUARD_TOPIC = "guard_topic"
GUARD_SYSTEM = "guard_system"
GUARD_QUESTION = "guard_question"
GUARD_PARAPHRASE = "guard_paraphrase"
GUARD_TRANSLATION = "guard_translation"
GUARD_RULE = "guard_rule"
WORDING = "wording"
FORGED_ORDER = "forged_order"
FORMAT = "format"
FORMAT_KEYS = "keys"

LESSON = "lesson"
LOSS_TEXT = "loss_text"
LEARN_START = "learn_start"
LEARN_ANSWER = "learn_answer"
LEARN_STEPS = "learn_steps"
LEARN_RATE = "learn_rate"
DPO_PROMPT = "dpo_prompt"
DPO_PREFERRED = "dpo_preferred"
DPO_OTHER = "dpo_other"
DPO_STEPS = "dpo_steps"
DPO_RATE = "dpo_rate"
DPO_BETA = "dpo_beta"

# Of the session alone.
NOTICES = "link_notices"
LINK = "link_to_be_read"
SHOWN_STAGE = "shown_stage"


@dataclass(frozen=True)
class Limit:
    """The range of one number that may come from a link."""

    key: str
    label: str
    low: float
    high: float
    default: float
    step: float
    whole: bool = False
    """Only whole numbers."""

    def number(self, value: float) -> int | float:
        """Return `value` as the type that the widget takes."""
        return int(value) if self.whole else float(value)


LIMITS: tuple[Limit, ...] = (
    Limit(TEMPERATURE, "Temperature", 0, 2, 0.7, 0.05),
    Limit(TOP_K, "Top-k", 0, 200, 0, 1, whole=True),
    Limit(TOP_P, "Top-p", 0, 1, 0.9, 0.01),
    Limit(MIN_P, "Min-p", 0, 1, 0, 0.01),
    Limit(REPETITION_PENALTY, "Repetition penalty", 0.5, 2, 1, 0.05),
    Limit(PRESENCE_PENALTY, "Presence penalty", -2, 2, 0, 0.1),
    Limit(FREQUENCY_PENALTY, "Frequency penalty", -2, 2, 0, 0.1),
    Limit(PENALTY_WINDOW, "Penalty window", 0, 256, 0, 1, whole=True),
    Limit(TYPICAL_P, "Typical", 0.01, 1, 1, 0.01),
    Limit(SEED, "Seed", 0, 2**31 - 1, 0, 1, whole=True),
    Limit(MAX_NEW_TOKENS, "Tokens to write", 1, 200, 40, 1, whole=True),
)
"""Numbers that every page shares: checked as soon as a session begins."""

PAGE_LIMITS: tuple[Limit, ...] = (
    Limit(GUESSES, "k, guesses a round", 1, 8, 4, 1, whole=True),
    Limit(RACE_STEPS, "Tokens to write", 2, 64, 16, 1, whole=True),
    Limit(BEAM_WIDTH, "Width", 1, 5, 3, 1, whole=True),
    Limit(BEAM_TOKENS, "Tokens", 1, 12, 6, 1, whole=True),
    Limit(BEAM_PENALTY, "Length penalty", -1, 2, 1, 0.5),
    Limit(LEARN_STEPS, "Steps", 1, 20, 8, 1, whole=True),
    Limit(DPO_STEPS, "Steps", 1, 20, 6, 1, whole=True),
    Limit(DPO_BETA, "β", 0.01, 1, 0.1, 0.01),
)
"""Numbers of one page: checked where they are drawn, by `components.link.widgets`."""

LONGEST: Mapping[str, int] = {
    STOP: 400,
    EDITS: 2_000,
    LOGIT_BIAS: 8_000,
    ORDER: 200,
    ORDER_FIRST: 200,
    ORDER_SECOND: 200,
    ANSWER_TYPED: 40,
    SECOND_PROMPT: 4_000,
    SWEEP_PROMPT: 4_000,
    GUARD_WORD: 30,
    GUARD_TOPIC: 30,
    GUARD_SYSTEM: 300,
    GUARD_QUESTION: 200,
    GUARD_PARAPHRASE: 200,
    GUARD_TRANSLATION: 200,
    GUARD_RULE: 200,
    FORGED_ORDER: 200,
    FORMAT_KEYS: 80,
    LOSS_TEXT: 800,
    LEARN_START: 200,
    LEARN_ANSWER: 60,
    DPO_PROMPT: 200,
    DPO_PREFERRED: 200,
    DPO_OTHER: 200,
}
"""The most characters of each text. The prompt has no entry: its cap is the page's, in tokens."""


def limit(key: str) -> Limit:
    """Return the limit of the setting named `key`."""
    return next(entry for entry in (*LIMITS, *PAGE_LIMITS) if entry.key == key)


def check_link(
    params: Mapping[str, str], limits: tuple[Limit, ...] = LIMITS
) -> tuple[dict[str, int | float], list[str]]:
    """Check the numbers of a link.

    Args:
        params: the link's parameters, as text.
        limits: what to check them against.

    Returns:
        The values that had to be changed, by key, and a sentence on each.
    """
    changed: dict[str, int | float] = {}
    notices: list[str] = []
    for entry in limits:
        text = params.get(entry.key)
        if text is None:
            continue
        value = _as_number(text)
        if value is None or (entry.whole and not value.is_integer()):
            changed[entry.key] = entry.number(entry.default)
            kind = "a whole number" if entry.whole else "a number"
            notices.append(
                f"{entry.label} in the link was “{text[:40]}”, which is not {kind}; "
                f"it is now {entry.number(entry.default)}."
            )
        elif not entry.low <= value <= entry.high:
            nearest = entry.number(min(max(value, entry.low), entry.high))
            changed[entry.key] = nearest
            notices.append(
                f"{entry.label} in the link was {text[:40]}; it goes from "
                f"{entry.number(entry.low)} to {entry.number(entry.high)}, so it is now {nearest}."
            )
    return changed, notices


def _as_number(text: str) -> float | None:
    """Read a finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def number(key: str) -> int | float:
    """Return a number of the link or of its widget, whether or not that widget is drawn now."""
    entry = limit(key)
    value = st.session_state.get(key)
    if value is None:
        text = st.query_params.get(key, "")
        changed, _ = check_link({key: text}, (entry,)) if text else ({key: entry.default}, [])
        value = changed.get(key, _as_number(text))
    return entry.number(float(entry.default if value is None else value))


def text(key: str) -> str:
    """Return a text of the link or of its widget, whether or not that widget is drawn now."""
    value = st.session_state.get(key)
    return str(st.query_params.get(key, "") if value is None else value)


def read_link() -> None:
    """On a session's first run, put the link's numbers right before any widget is drawn.

    A bound widget takes its value from the link as it stands, and one that is far too large ends
    the page. So the address is corrected, and the page begins anew.
    """
    if LINK in st.session_state:
        return
    params = st.query_params.to_dict()
    changed, notices = check_link(params)
    shared = {entry.key for entry in LIMITS}
    st.session_state[LINK] = {key: text for key, text in params.items() if key not in shared}
    st.session_state[NOTICES] = notices
    for key, value in changed.items():
        st.query_params[key] = str(value)
    if changed:
        st.rerun()
