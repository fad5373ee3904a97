"""Names, limits and defaults of everything that is remembered: session keys and link parameters.

A bound widget's key is also the name of its parameter in the link, so a copied address restores
the prompt, the settings and the selection. Values that arrive in a link are checked here, once.
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

SAMPLING_VIEW = "lab"
HEAD_VIEW = "scores"
ATTENTION_VIEW = "zoom"
HEAD_PICTURE = "picture"
ATTENTION_STEP = "step"
BLOCK_VIEW = "block"
ANSWER_VIEW = "closer"
DRAFT = "draft"
EXIT_LAYERS = "exit_layers"
GUESSES = "guesses"

PENDING = "pending_link_values"
NOTICES = "link_notices"
LINK_READ = "link_read"
SELECTION_LINK = "selection_link"


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


def limit(key: str) -> Limit:
    """Return the limit of the setting named `key`."""
    return next(entry for entry in LIMITS if entry.key == key)


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
    """On a session's first run, check the link and keep what must be changed for the next run.

    A bound widget takes its value from the link when it is first drawn and drops what it can't
    take; only after that can another value be set, so the change waits for a second run.
    """
    if st.session_state.get(LINK_READ):
        for key, value in st.session_state.pop(PENDING, {}).items():
            st.session_state[key] = value
        return
    st.session_state[LINK_READ] = True
    params = st.query_params.to_dict()
    st.session_state[SELECTION_LINK] = {
        key: params[key] for key in (LAYER, HEAD, TOKEN, READ, NEURON) if key in params
    }
    changed, notices = check_link(params)
    st.session_state[NOTICES] = notices
    if changed:
        st.session_state[PENDING] = changed


def apply_link_changes() -> None:
    """After the bound widgets were drawn: run once more if the link held a value to be changed."""
    if PENDING in st.session_state:
        st.rerun()


def clamp(key: str, label: str, high: int) -> None:
    """Keep a selection inside a range that depends on the prompt or the model.

    Args:
        key: session key of a whole-number widget that is drawn after this call.
        label: what the user knows it as.
        high: its largest allowed value; the smallest is 0.
    """
    text = st.session_state.get(SELECTION_LINK, {}).pop(key, None)
    if text is not None:
        entry = Limit(key, label, 0, high, 0, 1, whole=True)
        changed, notices = check_link({key: text}, (entry,))
        st.session_state.update(changed)
        st.session_state[NOTICES] = st.session_state.get(NOTICES, []) + notices
    value = st.session_state.get(key)
    if isinstance(value, int) and value > high:
        st.session_state[key] = high


def linked(key: str, label: str, high: int) -> int | None:
    """Return a whole number of the session or, at first, of the link; None if there is none.

    For what is chosen by a click and has no widget that is always drawn: a widget that first
    appears after the click would not write its value into the link. `link` writes it.

    Args:
        key: of the session state, and of the link.
        label: what the user knows it as.
        high: its largest allowed value; the smallest is 0.
    """
    clamp(key, label, high)
    if key not in st.session_state and key in st.query_params:
        entry = Limit(key, label, 0, high, 0, 1, whole=True)
        text = st.query_params[key]
        changed, _ = check_link({key: text}, (entry,))
        st.session_state[key] = int(changed.get(key, _as_number(text) or 0))
    value = st.session_state.get(key)
    return value if isinstance(value, int) else None


def link(key: str, value: int) -> None:
    """Write a whole number into the link, where no bound widget does it."""
    if st.query_params.get(key) != str(value):
        st.query_params[key] = str(value)
