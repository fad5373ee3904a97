"""What the running model gives for each guess, worked out in the background while people guess.

One result per model and step serves every session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.lesson import reveals, steps
from components.link import keys
from components.sampling.sharpness import recorded as recorded_facts
from components.shell.example_prompts import DEFAULT_PROMPT
from components.speculative.recorded import recorded as recorded_races
from engine.model.weights import DEFAULT
from engine.sampling.settings import SamplingSettings
from pages.frame.loading import model_in_use

if TYPE_CHECKING:
    from components.lesson.reveals import Reveal
    from engine.model.model import LanguageModel
    from engine.sampling.sharpness import Sharpness

SEEDS = 10
TOKENS = 12
ANSWERS = 3
ANSWER_TOKENS = 24
ORDER_TOKENS = 10
HELPER_TOKENS, HELPER_GUESSES = 24, 4
AUSTRALIA = "The capital of Australia is"
EXAMPLE = "The capital of Germany is Berlin. "
SECOND_FACT = (
    ("The capital of Japan is", (" Tokyo",)),
    ("Tokyo is the capital of", (" Japan",)),
)


class Finding:
    """One result, worked out on a thread of its own."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._value: Any = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="lesson", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = self._work()
        except Exception as error:  # raised where somebody asks for the result
            self._error = error
        self._work = lambda: None  # it holds the model

    def result(self) -> Any:
        """Wait for the result and return it, or raise what went wrong."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value


@st.cache_resource(max_entries=60, show_spinner=False)
def finding(source: str, key: str) -> Finding:
    """Begin to work out what a step needs, or return what was begun before.

    Args:
        source: the model's.
        key: the step's.
    """
    return Finding(partial(MEASURES[key], model_in_use(source)))


def reveal(source: str, key: str) -> Reveal:
    """Return the answer to a step on a model; wait for it if need be.

    Raises:
        EngineError: the model can't do what the step needs.
    """
    facts = recorded_facts() if source == DEFAULT else None
    return worded(key, finding(source, key).result(), facts)


def worded(key: str, found: Any, facts: Sharpness | None) -> Reveal:
    """Return the words on what was found.

    Args:
        key: the step's.
        found: what its measure gave.
        facts: what was recorded of the facts with this model; None if nothing was.
    """
    if key == "attention":
        return reveals.attention(found, "France")
    if key == "cold":
        return reveals.temperature(facts or found, recorded=facts is not None)
    if key == "helper":
        return reveals.helper(found, next(iter(recorded_races().laws.values())))
    if key == "wrong":
        return reveals.wrong(found, facts)
    words: Mapping[str, Callable[[Any], Reveal]] = {
        "tokens": reveals.tokens,
        "positions": reveals.order,
        "answer": reveals.answer,
        "greedy": reveals.greedy,
        "ban": reveals.ban,
        "stored": reveals.stored,
    }
    return words[key](found)


def usual() -> SamplingSettings:
    """Return the settings that a page starts with."""
    temperature, top_p = (float(keys.limit(key).default) for key in (keys.TEMPERATURE, keys.TOP_P))
    return SamplingSettings(temperature=temperature, top_p=top_p)


def _tokens(model: LanguageModel) -> Any:
    from engine.lesson import reading

    return reading.cut(model, steps.WORD)


def _order(model: LanguageModel) -> Any:
    from engine.lesson import reading

    return reading.two_orders(model, *steps.ORDERS, ORDER_TOKENS)


def _answer(model: LanguageModel) -> Any:
    from engine.lesson import writing

    return writing.many_seeds(
        model,
        DEFAULT_PROMPT,
        steps.TRUE_QUESTION,
        usual(),
        seeds=range(SEEDS),
        count=TOKENS,
    )


def _attention(model: LanguageModel) -> Any:
    from engine.lesson import reading

    return reading.looking(model, steps.FACT, "France")


def _temperature(model: LanguageModel) -> Any:
    if model.source == DEFAULT:
        return None  # recorded
    from engine.generation.sharpness import measure
    from engine.sampling.sharpness import load_facts

    return measure(model, load_facts(), (0.0, 1.0))


def _greedy(model: LanguageModel) -> Any:
    from engine.lesson import reading

    asked = (
        (steps.SUN, (" Earth", " earth")),
        (AUSTRALIA, (" Canberra",)),
        (EXAMPLE + AUSTRALIA, (" Canberra",)),
    )
    return reading.expected_each(model, asked)


def _helper(model: LanguageModel) -> Any:
    from engine.lesson import writing
    from engine.speculative.distilled import DistilledDraft, fits, load_parts
    from engine.speculative.early_exit import early_exit
    from engine.speculative.model_draft import ModelDraft

    layers, vocabulary = model.architecture.layers, model.architecture.vocabulary
    draft = (
        DistilledDraft(model, load_parts(model))
        if fits(model)
        else ModelDraft(early_exit(model, max(2 * layers // 3, 1)), vocabulary)
    )
    return writing.helped(model, draft, DEFAULT_PROMPT, k=HELPER_GUESSES, count=HELPER_TOKENS)


def _ban(model: LanguageModel) -> Any:
    from engine.guardrails.scenario import SCENARIOS
    from engine.lesson import writing

    return writing.secret(model, SCENARIOS["Puppy"], usual(), seeds=range(5), count=ANSWER_TOKENS)


def _stored(model: LanguageModel) -> Any:
    from engine.lesson import reading

    asked = ((steps.FACT, (" Paris",)), (steps.BACKWARDS, (" France",)), *SECOND_FACT)
    return reading.expected_each(model, asked)


def _wrong(model: LanguageModel) -> Any:
    from engine.lesson import writing

    return writing.false_question(
        model,
        steps.FALSE_QUESTION,
        steps.TRUE_QUESTION,
        usual(),
        seeds=range(ANSWERS),
        count=ANSWER_TOKENS,
    )


MEASURES: Mapping[str, Callable[[LanguageModel], Any]] = {
    "tokens": _tokens,
    "positions": _order,
    "answer": _answer,
    "attention": _attention,
    "cold": _temperature,
    "greedy": _greedy,
    "helper": _helper,
    "ban": _ban,
    "stored": _stored,
    "wrong": _wrong,
}
"""What each step asks of the model, by its key."""
