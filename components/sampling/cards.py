"""The steps of the sampling chain: a chip each, and a card with switch, slider, formula, bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.kit.numbers import percent
from components.kit.text import counted, markdown
from components.link import check, keys
from components.link.sampling import (
    counting_choice,
    format_order,
    neutral,
    order_field,
    parse_order,
    setting_slider,
)
from components.sampling.bias import bias_picker
from components.sampling.penalties import Prompt, penalty_words
from components.sampling.step_bars import HITTING, payload, step_rows
from components.sampling.step_line import StepChip
from engine.sampling.chain import ORDERS, SamplingSettings, Stage

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from engine.tokenizer.tokenizer import Token

PRESET, KEPT = "order_preset", "kept_settings"
WIDTH = 620
"""Of a card, in pixels, where there is room for it."""


@dataclass(frozen=True)
class Card:
    """What the card of one step shows and sets."""

    title: str
    keys: tuple[str, ...]
    """Settings of the step, each with a slider; the first ones of `on` switch it."""
    on: Mapping[str, float]
    """What the switch sets when there is no earlier value to go back to."""
    formula: Callable[[SamplingSettings, Stage], str]
    movable: bool = False
    chip: str = ""
    """Its name on the line of steps, if the title is too long for that."""


CARDS: Mapping[str, Card] = {
    "logit_bias": Card(
        "Logit bias",
        (),
        {},
        lambda s, stage: (
            f"logit + bias, for {counted(len(s.bias), 'token')}"
            if s.bias
            else "Off. On, it makes the tokens that you pick likelier, or less likely."
        ),
        chip="Bias",
    ),
    "repetition_penalty": Card(
        "Repetition penalty",
        (keys.REPETITION_PENALTY, keys.PENALTY_WINDOW),
        {keys.REPETITION_PENALTY: 1.2},
        lambda s, stage: (
            f"logit ÷ {s.repetition_penalty:g} if above 0, × {s.repetition_penalty:g} if "
            f"below, once for each token of {window_words(s.penalty_window)}"
            if s.repetition_penalty != 1
            else "Off. On, it makes tokens that are already in the text less likely."
        ),
        chip="Repetition",
    ),
    "count_penalties": Card(
        "Presence and frequency",
        (keys.PRESENCE_PENALTY, keys.FREQUENCY_PENALTY),
        {keys.PRESENCE_PENALTY: 0.5, keys.FREQUENCY_PENALTY: 0.5},
        lambda s, stage: (
            f"logit − {s.presence_penalty:g} − {s.frequency_penalty:g} × count, for each token of "
            + (window_words(s.penalty_window) if s.count_prompt else "the answer")
            if s.presence_penalty or s.frequency_penalty
            else "Off. On, it makes tokens that were already written less likely, the more often "
            "the more so."
        ),
        chip="Presence",
    ),
    "temperature": Card(
        "Temperature",
        (keys.TEMPERATURE,),
        {keys.TEMPERATURE: 0.7},
        lambda s, stage: (
            "T = 0: only the largest logit stays (argmax)"
            if s.greedy
            else f"logit ÷ {s.temperature:g}: "
            + ("sharper" if s.temperature < 1 else "flatter" if s.temperature > 1 else "unchanged")
        ),
        movable=True,
    ),
    "top_k": Card(
        "Top-k",
        (keys.TOP_K,),
        {keys.TOP_K: 40},
        lambda s, stage: f"keep the {s.top_k} largest logits" if s.top_k else "keep all",
        movable=True,
    ),
    "top_p": Card(
        "Top-p (nucleus)",
        (keys.TOP_P,),
        {keys.TOP_P: 0.9},
        lambda s, stage: f"keep the likeliest tokens that together reach {percent(s.top_p)}",
        movable=True,
        chip="Top-p",
    ),
    "min_p": Card(
        "Min-p",
        (keys.MIN_P,),
        {keys.MIN_P: 0.05},
        lambda s, stage: (
            f"keep p ≥ {s.min_p:g} × top = "
            f"{percent(s.min_p * float(stage.probabilities_before.max()))}"
        ),
        movable=True,
    ),
    "typical": Card(
        "Typical",
        (keys.TYPICAL_P,),
        {keys.TYPICAL_P: 0.9},
        lambda s, stage: (
            f"keep {percent(s.typical_p)} of the mass, nearest to the usual "
            f"surprise of {stage.entropy_bits_before:.2f} bits"
        ),
        movable=True,
    ),
    "softmax": Card(
        "Softmax and draw",
        (),
        {},
        lambda s, stage: (
            "p = exp(logit) ÷ Σ exp(logit). Top-p, min-p and typical run a softmax of their own on "
            "the scores of that moment; this last one is drawn from."
        ),
        chip="Draw",
    ),
}

_SHORT_LABELS: Mapping[str, str] = {
    keys.REPETITION_PENALTY: "Penalty",
    keys.PENALTY_WINDOW: "Window (0: all)",
    keys.PRESENCE_PENALTY: "Presence",
    keys.FREQUENCY_PENALTY: "Frequency",
}


def step_chips(names: Sequence[str], settings: SamplingSettings, opened: str) -> list[StepChip]:
    """Return the chips of the line of steps.

    Args:
        names: of the steps, in the order of work.
        settings: of the chain.
        opened: the step whose card is open; empty if none is.
    """
    return [
        StepChip(
            name=name,
            label=CARDS[name].chip or CARDS[name].title,
            value=_value(name, settings),
            on=bool(_value(name, settings)) or name == "softmax",
            open=name == opened,
        )
        for name in names
    ]


def _value(name: str, settings: SamplingSettings) -> str:
    """Return what a step is set to; empty while it is off."""
    card = CARDS[name]
    if name == "logit_bias":
        return counted(len(settings.bias), "token") if settings.bias else ""
    values = [(getattr(settings, key), neutral(key)) for key in card.on]
    if all(value == off for value, off in values):
        return ""
    return " / ".join(f"{value:g}" for value, _ in values)


def step_card(
    name: str,
    settings: SamplingSettings,
    name_of: Callable[[int], str],
    tokens_of: Callable[[str], Sequence[Token]],
) -> DeltaGenerator:
    """Draw the card of one step with its head, and return it, for sliders and picture.

    Args:
        name: of the step.
        settings: of the chain.
        name_of: gives a token's visible text.
        tokens_of: cuts a text into tokens, for the logit bias.
    """
    card = st.container(border=True, width=WIDTH, key=f"card_{name}", gap="xsmall")
    with card:
        _head(name, CARDS[name], settings.order)
        if name == "logit_bias":
            bias_picker(settings.bias, tokens_of, name_of)
    return card


def sliders(name: str, on_move: Callable[[], None]) -> None:
    """Draw the sliders of a step.

    Args:
        name: of the step.
        on_move: called as soon as a slider was moved, before anything is drawn.
    """
    settings = CARDS[name].keys
    if len(settings) == 1:
        setting_slider(settings[0], hide_label=True, on_change=on_move)
    elif settings:
        for key, column in zip(settings, st.columns(2, gap="small"), strict=True):
            with column:
                setting_slider(key, label=_SHORT_LABELS[key], on_change=on_move)
    if name == "count_penalties":
        counting_choice(on_change=on_move)


def switch_turned(name: str) -> bool:
    """Return whether a step's slider was moved past the value at which the step is off."""
    card = CARDS[name]
    return bool(card.on) and st.session_state.get(_switch_key(name)) != _is_on(card)


def step_picture(
    stage: Stage,
    settings: SamplingSettings,
    name_of: Callable[[int], str],
    picked: int,
    prompt: Prompt,
) -> dict[str, Any]:
    """Return what `step_bars` draws of a step: formula, bars and facts.

    Args:
        stage: from `run_chain(…, include_off=True)`.
        settings: what it was run with.
        name_of: gives a token's visible text.
        picked: the token that is drawn.
        prompt: what the penalties look at.
    """
    card = CARDS[stage.name]
    words = "" if stage.note == "Off." else stage.note
    if stage.active and stage.name in ("repetition_penalty", "count_penalties"):
        words = penalty_words(stage.name, settings, prompt)
    # A penalty that is off has nothing to show: its card stays small.
    small = stage.name in HITTING and not stage.active
    return payload(
        [] if small else step_rows(stage, name_of, picked=picked),
        formula=card.formula(settings, stage),
        facts="" if small else facts(stage),
        note=words,
        active=stage.active,
        alt=f"{card.title}: tokens before and after",
    )


def temperature_picture(
    stage: Stage, settings: SamplingSettings, name_of: Callable[[int], str], picked: int
) -> dict[str, Any]:
    """Return the page's main picture: what the temperature alone makes of the likeliest tokens.

    Args:
        stage: of the temperature.
        settings: of the chain.
        name_of: gives a token's visible text.
        picked: the token that is drawn.
    """
    return payload(
        step_rows(stage, name_of, picked=picked),
        formula="",
        facts="",
        note="",
        active=True,
        alt="The likeliest tokens before and after the temperature",
        title=temperature_title(stage, settings, name_of),
    )


def temperature_title(
    stage: Stage, settings: SamplingSettings, name_of: Callable[[int], str]
) -> str:
    """Say what the temperature makes of the likeliest token."""
    top = int(stage.probabilities_before.argmax())
    was, now = (
        percent(float(row[top])) for row in (stage.probabilities_before, stage.probabilities)
    )
    if settings.greedy:
        return f"T = 0 leaves {name_of(top)} alone, whatever it had: {was}"
    if settings.temperature == 1:
        return f"T = 1 changes nothing: {name_of(top)} keeps its {was}"
    gain = "the likeliest gains" if settings.temperature < 1 else "the others gain"
    return f"T = {settings.temperature:g}: {gain}, {name_of(top)} goes from {was} to {now}"


def facts(stage: Stage) -> str:
    """Say in numbers what a step did."""
    before = int((stage.logits_before > float("-inf")).sum())
    tokens = f"{before:,} → {stage.survivors:,}" if before != stage.survivors else f"{before:,}"
    mass = f"mass kept {percent(stage.mass_kept)}" if stage.mass_kept < 1 else "no mass cut"
    was, now = stage.entropy_bits_before, stage.entropy_bits
    bits = f"{was:.2f} → {now:.2f}" if abs(was - now) >= 0.005 else f"{now:.2f}"
    return f"tokens {tokens}\n{mass}\nentropy {bits} bits"


def window_words(window: int) -> str:
    """Say which tokens a penalty looks at."""
    if window == 1:
        return "the last token"
    return f"the last {window} tokens" if window else "the text so far"


def _head(name: str, card: Card, order: tuple[str, ...]) -> None:
    """Draw the switch of a card, and for a movable one the arrows."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if not card.on:
            st.markdown(f"**{card.title}**")
            return
        key = _switch_key(name)
        st.session_state[key] = _is_on(card)
        st.toggle(card.title, key=key, on_change=_switch, args=(name,), width="stretch")
        if card.movable:
            place = order.index(name)
            for arrow, step in (("left", -1), ("right", 1)):
                st.button(
                    f":material/chevron_{arrow}:",
                    key=f"move_{arrow}_{name}",
                    type="tertiary",
                    disabled=not 0 <= place + step < len(order),
                    on_click=_move,
                    args=(name, step),
                    help=f"Move this step one place to the {arrow}",
                )


def order_controls(order: tuple[str, ...]) -> None:
    """Draw the choice of the order, with the text that stands in the link."""
    names: dict[tuple[str, ...], str] = {preset: name for name, preset in ORDERS.items()}
    st.session_state[PRESET] = names.get(order)
    with st.popover("Order", icon=":material/swap_horiz:"):
        st.segmented_control(
            "Order of temperature and the four cuts",
            list(ORDERS),
            key=PRESET,
            on_change=_take_order,
            format_func=lambda name: f"as in {name}",
        )
        order_field()
        problem = parse_order(check.text(keys.ORDER))[1]
        if problem:
            st.error(markdown(problem))


def _is_on(card: Card) -> bool:
    return any(check.number(key) != neutral(key) for key in card.on)


def _switch_key(name: str) -> str:
    return f"on_{name}"


def _switch(name: str) -> None:
    """Switch a step off (its numbers are kept) or on again."""
    card = CARDS[name]
    kept: dict[str, Any] = st.session_state.setdefault(KEPT, {})
    if _is_on(card):
        kept.update({key: check.number(key) for key in card.on})
        values: dict[str, float] = {key: neutral(key) for key in card.on}
    else:
        values = {key: kept.get(key, value) for key, value in card.on.items()}
    for key, value in values.items():
        st.session_state[key] = keys.limit(key).number(value)


def _move(name: str, step: int) -> None:
    """Change the places of a step and its neighbour."""
    order = list(parse_order(check.text(keys.ORDER))[0])
    place = order.index(name)
    order[place], order[place + step] = order[place + step], order[place]
    st.session_state[keys.ORDER] = format_order(tuple(order))


def _take_order() -> None:
    chosen = st.session_state[PRESET]
    if chosen in ORDERS:
        st.session_state[keys.ORDER] = format_order(ORDERS[chosen])
