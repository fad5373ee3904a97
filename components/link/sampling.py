"""The sampling settings as they stand in the link, read into what the engine takes.

Numbers are bound to sliders; the order of the steps and the logit bias are texts. A text that
can't be read is named, and its default is used, so that a page never fails for a link.
"""

from __future__ import annotations

import math
import re

from components.link import check, keys
from engine.sampling.chain import ORDERS, TRANSFORMERS_ORDER, SamplingSettings

BIAS_LOW, BIAS_HIGH = -100.0, 100.0


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
    for part in filter(None, (part.strip() for part in re.split(r"[,;]", text))):
        match = re.fullmatch(r"(\d{1,9})\s*:\s*(\S+)", part)
        value = _bias_value(match[2]) if match else None
        if match is None or value is None:
            refused.append(part[:30])
        else:
            pairs[int(match[1])] = value
    if not refused:
        return tuple(sorted(pairs.items())), None
    return tuple(sorted(pairs.items())), (
        f"The bias “{refused[0]}” can't be read. Write a token's id, a colon and a number from "
        f"{BIAS_LOW:g} to {BIAS_HIGH:g} (or -inf to ban it), such as 6345:-100."
    )


def format_bias(bias: tuple[tuple[int, float], ...]) -> str:
    """Return the text for biases, as `parse_bias` reads it."""
    return ", ".join(f"{token_id}:{value:g}" for token_id, value in sorted(bias))


def _bias_value(text: str) -> float | None:
    try:
        value = float(text.replace("−", "-"))
    except ValueError:
        return None
    allowed = value == -math.inf or BIAS_LOW <= value <= BIAS_HIGH
    return value if allowed else None
