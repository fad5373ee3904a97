"""The sampling settings: their fields on the page, and what of the link the engine gets.

Numbers are bound to sliders; the order of the steps and the logit bias are texts. A text that
can't be read is named, and its default is used, so that a page never fails for a link. The sidebar
draws the fields, and on the page on sampling the cards of the chain do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from components.link import check, keys, widgets
from engine.sampling.chain import ORDERS, TRANSFORMERS_ORDER, SamplingSettings

BIAS_LOW, BIAS_HIGH = -100.0, 100.0

COUNTINGS: Mapping[str, bool] = {"OpenAI, vLLM": False, "llama.cpp": True}
"""By whose rule presence and frequency count, and whether that takes in the prompt."""

_HELP: Mapping[str, str] = {
    keys.TEMPERATURE: "How much chance decides. Below 1 the likeliest tokens become likelier "
    "still; above 1 unlikely ones get more of a chance; at 0 the likeliest is always taken.",
    keys.TOP_K: "Keep the k most probable tokens. 0: off.",
    keys.TOP_P: "Go down the list from the likeliest token and keep just enough of them to reach "
    "this share, say 90 %. All others are out. 1 keeps all.",
    keys.MIN_P: "A token must have at least this part of the top token's probability. At 0.1, with "
    "the top at 40 %, everything under 4 % is out. 0 keeps all.",
    keys.REPETITION_PENALTY: "Above 1 lowers the logits of tokens of prompt and answer. 1: off.",
    keys.PENALTY_WINDOW: "How many of the last tokens the penalties look at. 0: all.",
    keys.PRESENCE_PENALTY: "Subtracted once from the logit of each token of the answer. 0: off.",
    keys.FREQUENCY_PENALTY: "Subtracted for each time that the answer has the token. 0: off.",
    keys.TYPICAL_P: "Keep tokens that are neither too expected nor too odd, nearest to the average "
    "surprise, until they reach this share. 1 keeps all.",
}


def read_settings() -> tuple[SamplingSettings, tuple[str, ...]]:
    """Return the settings of this session, and a sentence on everything that can't be read."""
    order, order_problem = parse_order(check.text(keys.ORDER))
    bias, bias_problem = parse_bias(check.text(keys.LOGIT_BIAS))
    settings = SamplingSettings(
        temperature=float(check.number(keys.TEMPERATURE)),
        top_k=int(check.number(keys.TOP_K)),
        top_p=float(check.number(keys.TOP_P)),
        min_p=float(check.number(keys.MIN_P)),
        repetition_penalty=float(check.number(keys.REPETITION_PENALTY)),
        presence_penalty=float(check.number(keys.PRESENCE_PENALTY)),
        frequency_penalty=float(check.number(keys.FREQUENCY_PENALTY)),
        penalty_window=int(check.number(keys.PENALTY_WINDOW)),
        count_prompt=COUNTINGS.get(check.text(keys.COUNTED), False),
        typical_p=float(check.number(keys.TYPICAL_P)),
        logit_bias=bias,
        order=order,
    )
    return settings, tuple(p for p in (order_problem, bias_problem) if p is not None)


def neutral(key: str) -> float:
    """Return the value at which a step changes nothing; a slider may start elsewhere."""
    return float(getattr(SamplingSettings(), key))


def parse_order(text: str) -> tuple[tuple[str, ...], str | None]:
    """Read an order: empty, the name of a preset, or the five steps with commas.

    Returns:
        The order, transformers' if the text can't be read, and then a sentence that says so.
    """
    wanted = text.strip()
    if not wanted:
        return TRANSFORMERS_ORDER, None
    if wanted in ORDERS:
        return ORDERS[wanted], None
    names = tuple(name.strip() for name in wanted.split(","))
    if sorted(names) == sorted(TRANSFORMERS_ORDER):
        return names, None
    return TRANSFORMERS_ORDER, (
        f"The order “{wanted[:60]}” can't be read, so transformers' is used. Write "
        f"{' or '.join(ORDERS)}, or each of {', '.join(TRANSFORMERS_ORDER)} once, with commas."
    )


def format_order(order: tuple[str, ...]) -> str:
    """Return the shortest text for an order."""
    if order == TRANSFORMERS_ORDER:
        return ""
    return next((name for name, preset in ORDERS.items() if preset == order), ",".join(order))


def parse_bias(text: str) -> tuple[tuple[tuple[int, float], ...], str | None]:
    """Read biases such as `6345:-100, 260:5`; `6345:-inf` bans a token.

    Returns:
        What can be read, as pairs in the order of the ids, and a sentence on what can't.
    """
    pairs: dict[int, float] = {}
    refused = []
    twice: list[int] = []
    for part in _parts(text):
        match = re.fullmatch(r"(\d{1,9})\s*:\s*(\S+)", part)
        value = _bias_value(match[2]) if match else None
        if match is None or value is None:
            refused.append(part[:30])
        elif int(match[1]) in pairs:
            twice.append(int(match[1]))
        else:
            pairs[int(match[1])] = value
    for token_id in set(twice):
        del pairs[token_id]  # which of the two was meant nobody knows
    problems = []
    if refused:
        problems.append(
            f"The bias “{refused[0]}” can't be read. Write a token's id, a colon and a number with "
            f"a decimal point from {BIAS_LOW:g} to {BIAS_HIGH:g} (or -inf to ban it), such as "
            "6345:-100."
        )
    if twice:
        problems.append(
            f"The bias names token {twice[0]} twice, so neither counts; leave one of the two out."
        )
    return tuple(sorted(pairs.items())), " ".join(problems) or None


def _parts(text: str) -> list[str]:
    """Return the biases of a text; `6345:-0,5` is one with a decimal comma, not two."""
    parts: list[str] = []
    for part in re.split(r"[,;]", text):
        if re.fullmatch(r"\d+\s*", part) and parts and re.search(r":.*\d$", parts[-1]):
            parts[-1] += f",{part.strip()}"
        elif part.strip():
            parts.append(part.strip())
    return parts


def format_bias(bias: tuple[tuple[int, float], ...]) -> str:
    """Return the text for biases, as `parse_bias` reads it."""
    return ", ".join(f"{token_id}:{value:g}" for token_id, value in sorted(bias))


def _bias_value(text: str) -> float | None:
    try:
        value = math.nan if "_" in text else float(text.replace("−", "-"))
    except ValueError:
        return None
    allowed = value == -math.inf or BIAS_LOW <= value <= BIAS_HIGH
    return value if allowed else None


def counting_choice(**look: Any) -> None:
    """Draw by whose rule presence and frequency count.

    Args:
        look: further arguments of `st.segmented_control`.
    """
    widgets.choice(
        "Presence and frequency count as in",
        list(COUNTINGS),
        key=keys.COUNTED,
        help="OpenAI and vLLM count the tokens of the answer; llama.cpp counts those of the "
        "prompt too.",
        **look,
    )


def bias_field() -> None:
    """Draw the logit bias as text."""
    widgets.text(
        "Logit bias",
        key=keys.LOGIT_BIAS,
        placeholder="id:bias, id:bias",
        help="Added to a token's logit, from −100 to 100: `6345:-100, 260:5`.",
    )


def order_field() -> None:
    """Draw the order of the steps as text."""
    widgets.text(
        "Order of the steps",
        key=keys.ORDER,
        placeholder="transformers",
        help="`transformers`, `llama.cpp`, or temperature, top_k, top_p, min_p, typical in any "
        "order, with commas.",
    )


def setting_slider(
    key: str, *, label: str | None = None, hide_label: bool = False, **look: Any
) -> None:
    """Draw the slider of one number that is bound to the link.

    Args:
        key: of the setting.
        label: in place of its usual one.
        hide_label: show neither label nor help.
        look: further arguments of `st.slider`.
    """
    widgets.slider(
        keys.limit(key),
        label=label,
        help=None if hide_label else _HELP[key],
        label_visibility="collapsed" if hide_label else "visible",
        **look,
    )
