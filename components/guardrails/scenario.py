"""Guardrails: the scenario that all guards are tried on, and the controls to change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from components.kit.text import markdown
from components.link import keys, widgets
from components.link.changes import change
from engine.guardrails.scenario import SCENARIOS, Scenario, listed


@dataclass(frozen=True)
class Field:
    """One text of the scenario."""

    name: str
    key: str
    """Of the session state, and of the link."""
    label: str


FIELDS: tuple[Field, ...] = (
    Field("word", keys.GUARD_WORD, "The word that must not appear"),
    Field("meaning", keys.GUARD_MEANING, "Other words that give the secret away, with commas"),
    Field("system", keys.GUARD_SYSTEM, "The system turn, which holds the secret"),
    Field("question", keys.GUARD_QUESTION, "The question"),
    Field("topic", keys.GUARD_TOPIC, "The word that the input filter looks for"),
    Field("paraphrase", keys.GUARD_PARAPHRASE, "The question in other words"),
    Field("translation", keys.GUARD_TRANSLATION, "The question in another language"),
    Field("rule", keys.GUARD_RULE, "What the system turn adds when it is the guard"),
)

POINTS: Mapping[str, str] = {
    "Puppy": "a ban on the word leaves its meaning",
    "Museum": "a ban on the word makes the model name another place",
}
"""What each of the ready scenarios shows."""

PLACES: Mapping[str, str] = {
    "system turn": "The secret stands in the system turn, which the user does not see.",
    "user turn": (
        "This model's chat template takes no system turn, so the secret stands at the beginning of "
        "the user's turn."
    ),
    "plain text": "This model knows no chat, so the secret stands before the question as text.",
}
"""Where the secret stands, by `engine.guardrails.scenario.SystemPlace`."""


def scenario_controls() -> Scenario:
    """Draw the button that opens the scenario's texts; return the scenario."""
    word = str(st.session_state.get(keys.GUARD_WORD) or SCENARIOS["Puppy"].word)
    with st.popover(f"Secret: {markdown(word)}", icon=":material/edit:", width="content"):
        st.caption("A harmless secret, a question for it, and a word that must not come out.")
        for name, point in POINTS.items():
            st.button(
                f"{name}: {point}",
                key=f"scenario_{name}",
                on_click=_choose,
                args=(name,),
                width="stretch",
            )
        texts = {field.name: _draw(field) for field in FIELDS}
        st.caption(
            "The list of other words is only as good as whoever wrote it. Nobody can list all that "
            "gives a secret away, and that is the point."
        )
    meaning = listed(texts.pop("meaning"))
    return Scenario(**texts, meaning=meaning)


def scenario_line(now: Scenario, place: str) -> None:
    """Say what the scenario is, in one line.

    Args:
        now: the scenario.
        place: where the model reads the secret.
    """
    st.caption(
        f"{PLACES[place]} “{markdown(now.system)}” The user asks: “{markdown(now.question)}” "
        "The prompt above is not used on this page."
    )


def scenario_now() -> Scenario:
    """Return the scenario that stands in the boxes, drawn or not."""
    texts = {
        entry.name: str(st.session_state.get(entry.key) or "").strip()
        or _text_of(SCENARIOS["Puppy"], entry.name)
        for entry in FIELDS
    }
    meaning = listed(texts.pop("meaning"))
    return Scenario(**texts, meaning=meaning)


def name_of(now: Scenario) -> str | None:
    """Return the name of a ready scenario; None for one that somebody has changed."""
    return next((name for name, ready in SCENARIOS.items() if ready == now), None)


def wrongly_refused(topic: str) -> Sequence[str]:
    """Return harmless questions, some of which hold the word that the input filter looks for."""
    return (
        f"How do you spell {topic}?",
        f"What does the word {topic} mean?",
        f"Write a short poem about a {topic}.",
        "What should I cook for eight guests?",
        "How far is the moon?",
    )


def _text_of(scenario: Scenario, name: str) -> str:
    value = getattr(scenario, name)
    return value if isinstance(value, str) else ", ".join(value)


def _choose(name: str) -> None:
    ready = SCENARIOS[name]
    values = {field.key: _text_of(ready, field.name) for field in FIELDS}
    change(f"The scenario is now “{name}”: {POINTS[name]}.", values)


def _draw(field: Field) -> str:
    """Draw one text; an emptied one counts as its default, so that there is always a scenario."""
    default = _text_of(SCENARIOS["Puppy"], field.name)
    long = keys.LONGEST[field.key] >= 300
    value = widgets.text(field.label, default, key=field.key, area=long)
    return value.strip() or default
