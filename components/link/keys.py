"""Names, limits and lengths of everything that a link carries.

The key of a widget in the session is also the name of its parameter in the link, so a copied
address restores the prompt, the settings, the selection and what stands open on the page.

A constant has the name of its parameter. Where a parameter is too short to say what it means, the
stage or the subject stands before it (`ATTENTION_STEP` is `step`), and the parameter that says
which part of a page is open is `<STAGE>_PART` for every stage. Parameters themselves never change:
links that people have kept must go on working.

What only one page remembers, and no link, has its name in that page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.kit import presenting

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
COUNTED = "counted"
TYPICAL_P = "typical_p"
LOGIT_BIAS = "logit_bias"
ORDER = "order"
MAX_NEW_TOKENS = "max_new_tokens"
STOP = "stop"

VIEW = "view"
PRESENT = presenting.KEY
SHOW_GUARDS = "show_guards"

TOKENIZER_PART = "look"
EXPERIMENT = "experiment"
OWN_WORD = "own_word"

EMBEDDING_PART = "vectors"
ORDER_FIRST = "order_first"
ORDER_SECOND = "order_second"
ORDER_OFF = "position_off"
ROPE_PAIR = "rope_pair"
ROPE_KEY = "rope_key"
ROPE_SHIFT = "rope_shift"
HANDS_OF = "hands_of"

ATTENTION_PART = "zoom"
ATTENTION_PICTURE = "picture"
ATTENTION_STEP = "step"
WITHOUT_FIRST = "without_first"
LOG_PATTERN = "log_pattern"
RACE_STEPS = "race_steps"

FEED_FORWARD_PART = "block"
BLOCK_BOX = "block_box"
ANSWER_TYPED = "answer_typed"

LM_HEAD_PART = "scores"
LM_HEAD_TOKEN = "lm_head_token"
SECOND_PROMPT = "second_prompt"
FACT_ASKED = "fact"

SAMPLING_PART = "lab"
OPEN_STEP = "open_step"
SWEEP_PROMPT = "sweep_prompt"
SETTINGS_A = "settings_A"
SETTINGS_B = "settings_B"
BEAM_WIDTH = "beam_width"
BEAM_TOKENS = "beam_tokens"
BEAM_PENALTY = "beam_penalty"

GENERATION_PART = "closer"

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
GUARD_MEANING = "guard_meaning"
HOLD_BACK = "hold_back"
WORDING = "wording"
FORGED_ORDER = "forged_order"
FORMAT = "format"
FORMAT_KEYS = "keys"

TEN_GUESSES = "ten_guesses"
"""Which of the ten guesses is at hand."""
GUESSED = "guessed"
"""What was guessed so far."""
BELIEVED = "believed"
"""What was said to be true or false at the end."""

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

ROOM = "room"
"""The code of the class's room. No secret: it is what a student joins with."""
FOLLOWED = "followed"
"""Which of the teacher's views the address is: on it for the one run that goes there."""

SHOWN_STAGE = "shown_stage"
"""Of the session alone: the stage that was on the screen last."""
NARROW = "narrow_window"
"""Of the session alone: whether the window is too narrow for an open sidebar."""


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
"""Numbers that every page shares: `components.link.check` checks them when a session begins."""

PAGE_LIMITS: tuple[Limit, ...] = (
    Limit(GUESSES, "k, guesses per round", 1, 8, 4, 1, whole=True),
    Limit(RACE_STEPS, "Tokens to write", 2, 64, 16, 1, whole=True),
    Limit(BEAM_WIDTH, "Width", 1, 5, 3, 1, whole=True),
    Limit(BEAM_TOKENS, "Tokens", 1, 12, 6, 1, whole=True),
    Limit(BEAM_PENALTY, "Length penalty", -1, 2, 1, 0.5),
    Limit(HOLD_BACK, "Characters held back", 0, 20, 20, 1, whole=True),
    Limit(LEARN_STEPS, "Steps", 1, 20, 8, 1, whole=True),
    Limit(DPO_STEPS, "Steps", 1, 20, 6, 1, whole=True),
    Limit(DPO_BETA, "β", 0.01, 1, 0.1, 0.01),
)
"""Numbers of one page: `components.link.widgets` checks them where they are drawn."""

LONGEST: Mapping[str, int] = {
    STOP: 400,
    EDITS: 2_000,
    LOGIT_BIAS: 8_000,
    ORDER: 200,
    OWN_WORD: 40,
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
    GUARD_MEANING: 300,
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


def linked() -> tuple[str, ...]:
    """Return every key whose value makes the picture on the screen, as its address has it.

    Whether the page is presented, to which room it belongs, and what was guessed in the ten guesses
    are a person's own.
    """
    own = {PRESENT, ROOM, FOLLOWED, GUESSED, BELIEVED, SHOWN_STAGE, NARROW}
    values = (value for name, value in globals().items() if name.isupper())
    return tuple(value for value in values if isinstance(value, str) and value not in own)


def limit(key: str) -> Limit:
    """Return the limit of the setting named `key`."""
    return next(entry for entry in (*LIMITS, *PAGE_LIMITS) if entry.key == key)
