"""A race as two texts side by side: with a draft and without, each pass of the model a box.

The boxes appear at the moments at which they were there in the race, and a bar over each text runs
on one clock. What the draft guessed and the model accepted is green.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from components.kit import theme
from components.kit.browser import component
from components.kit.text import counted, readable

if TYPE_CHECKING:
    from engine.speculative.race import Lap

_COMPONENT = component("speculative/two_texts", '<div class="two"></div>')

Passes = list[list[tuple[bytes, bool]]]
"""For each pass of the model its new tokens: the bytes, and whether the draft had guessed it."""


def fast_passes(laps: Sequence[Lap]) -> Passes:
    """Return what each pass added with a draft."""
    passes = []
    for lap in laps:
        if lap.round is None:
            continue
        tokens = [(token.data, True) for token in lap.round.proposed if token.fate == "accepted"]
        if lap.round.last is not None:
            tokens.append((lap.round.last.data, False))
        passes.append(tokens)
    return passes


def plain_passes(laps: Sequence[Lap]) -> Passes:
    """Return what each pass added without a draft: one token."""
    return [[(step.data, False)] for lap in laps for step in lap.steps]


def seconds(laps: Sequence[Lap]) -> tuple[float, float]:
    """Return how long the text took with a draft and without it, the prompt's reading included."""
    fast, plain = _clocks(laps)
    return max(fast, default=0.0) / 1000, max(plain, default=0.0) / 1000


def ratio(laps: Sequence[Lap]) -> float:
    """Return the time per token without a draft divided by that with one."""
    fast, plain = seconds(laps)
    fast_tokens = sum(map(len, fast_passes(laps)))
    plain_tokens = len(plain_passes(laps))
    if not fast_tokens or not plain_tokens or not fast:
        return 1.0
    return (plain / plain_tokens) / (fast / fast_tokens)


def headline(laps: Sequence[Lap], *, same: bool) -> str:
    """Return what the race shows, as plain text."""
    passes = fast_passes(laps)
    tokens = sum(map(len, passes))
    text = "the same text" if same else f"{counted(tokens, 'token')} of text"
    found = ratio(laps)
    speed = f"{found:.2f} × as fast" if found >= 1 else f"but {1 / found:.2f} × the time"
    word = "pass" if len(passes) == 1 else "passes"
    return f"{len(passes)} {word} instead of {len(plain_passes(laps))}: {text}, {speed}"


def two_texts(laps: Sequence[Lap], prompt: str, *, key: str, plays: bool) -> None:
    """Draw the two texts.

    Args:
        laps: of the race.
        prompt: the text that they go on from.
        key: unique on the page.
        plays: whether the race is run before the reader's eyes at first.
    """
    fast, plain = _clocks(laps)
    _COMPONENT(
        key=key,
        data={
            "prompt": readable(prompt),
            "plays": plays,
            "guessed": theme.with_alpha(theme.CATEGORICAL[2], 0.35),
            "replay": "Play it again",
            "box": "one pass of the model",
            "green": "guessed by the draft, accepted by the model",
            "lanes": [
                _lane("With a draft", theme.CATEGORICAL[2], fast_passes(laps), fast),
                _lane("Without a draft", theme.NEUTRAL, plain_passes(laps), plain),
            ],
        },
    )


def _lane(name: str, colour: str, passes: Passes, clock: Iterable[float]) -> dict[str, Any]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    moments = [round(float(moment), 1) for moment in clock]
    return {
        "name": name,
        "colour": colour,
        "passes": [
            {
                "ms": moment,
                "pieces": [
                    {"t": _shown(decoder.decode(data)), "g": guessed} for data, guessed in tokens
                ],
            }
            for tokens, moment in zip(passes, moments, strict=True)
        ],
    }


def _shown(text: str) -> str:
    """Return text as it is read, with its line breaks; the space before a word stays."""
    return text if text == " " else readable(text).replace("⏎", "⏎\n")


def _clocks(laps: Sequence[Lap]) -> tuple[list[float], list[float]]:
    """Return when each pass was over, in milliseconds, with a draft and without."""
    rounds = [lap.round for lap in laps if lap.round is not None]
    fast = np.cumsum([part.draft_milliseconds + part.check_milliseconds for part in rounds])
    plain = np.cumsum([step.milliseconds for lap in laps for step in lap.steps])
    return [float(moment) for moment in fast], [float(moment) for moment in plain]
