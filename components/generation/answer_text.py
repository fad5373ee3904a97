"""An answer as flowing text: each token coloured by its probability, and chosen by a click.

While a run writes, the same text is drawn as HTML (`answer_html`), token by token; when it is over
the clickable one takes its place. What a stop string cut is struck through, and a token that only
holds a part of a character shows its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.kit.browser import checked_index, component
from components.kit.numbers import percent
from components.kit.text import html, readable, visible
from components.kit.theme import ACCENT, PICKED, with_alpha

if TYPE_CHECKING:
    from engine.generation.branches import Written
    from engine.generation.releases import Release

_COMPONENT = component("generation/answer_text", '<div class="answer"></div>')

LEVELS = (
    (0.05, "under 5 %", with_alpha(PICKED, 0.60)),
    (0.20, "5 to 20 %", with_alpha(PICKED, 0.30)),
    (0.50, "20 to 50 %", with_alpha(ACCENT, 0.08)),
    (0.90, "50 to 90 %", with_alpha(ACCENT, 0.22)),
    (1.01, "over 90 %", with_alpha(ACCENT, 0.40)),
)
"""Up to which probability, how it is called, and its colour."""


@dataclass(frozen=True)
class Piece:
    """One token of the answer, as it is drawn."""

    text: str
    """What it added to the text, already visible; its bytes where that is nothing yet."""
    cut: str
    """What of it a stop string cut away."""
    partial: bool
    """Whether `text` is bytes that are no character yet."""
    end: bool
    """Whether this is the end token, which is no text."""
    level: int
    """Index in `LEVELS`."""
    label: str
    """What a tooltip and a screen reader say."""
    breaks: bool = False
    """Whether a line ends after it."""


def level(probability: float) -> int:
    """Return the index in `LEVELS` of a probability."""
    return next(i for i, (top, _, _) in enumerate(LEVELS) if probability < top)


def pieces(
    answer: Sequence[Written], log: Sequence[Release], stop_ids: frozenset[int]
) -> list[Piece]:
    """Return what is drawn for each token.

    Args:
        answer: the tokens.
        log: what the detokenizer did with each (`engine.generation.releases`).
        stop_ids: the model's end tokens.
    """
    room = _cut_at(log)
    drawn = []
    for written, release in zip(answer, log, strict=True):
        step = written.step
        kept, cut = release.decoded[:room], release.decoded[room:]
        room = max(room - len(release.decoded), 0)
        end = step.id in stop_ids
        partial = not release.decoded and not end
        text = visible(step.data) if partial or end else readable(kept)
        label = f"token {step.index + 1}: {visible(step.data)}, {percent(step.raw_probability)}"
        drawn.append(
            Piece(
                text=text,
                cut=readable(cut),
                partial=partial,
                end=end,
                level=level(step.raw_probability),
                label=label,
                breaks="\n" in kept,
            )
        )
    return drawn


def _cut_at(log: Sequence[Release]) -> int:
    """Return how many of the decoded characters are text; all of them without a stop string."""
    if any(release.found is not None for release in log):
        return sum(len(release.shown) for release in log)
    return sum(len(release.decoded) for release in log)


def answer_text(
    prompt: str,
    drawn: Sequence[Piece],
    *,
    key: str,
    selected: int | None,
    upto: int,
    on_select: Callable[[int], None],
) -> None:
    """Draw the answer; a click on a token or the arrow keys choose it.

    Args:
        prompt: what stands before it.
        drawn: from `pieces`.
        key: unique on the page.
        selected: the chosen token.
        upto: how many tokens are replayed; later ones are faint.
        on_select: called with the index before the page's script runs again.
    """

    def picked() -> None:
        index = checked_index(st.session_state[key].get("picked"), len(drawn))
        if index is not None:
            on_select(index)

    _COMPONENT(
        key=key,
        data={
            "prompt": prompt_excerpt(prompt),
            "pieces": [_message(piece) for piece in drawn],
            "selected": selected,
            "upto": upto,
            "colours": [colour for _, _, colour in LEVELS],
        },
        on_picked_change=picked,
    )


def _message(piece: Piece) -> dict[str, Any]:
    """Return one piece with short names, since there are many; what is usual is left out."""
    message: dict[str, Any] = {"t": piece.text, "k": piece.level, "l": piece.label}
    flags = {"x": piece.cut, "p": piece.partial, "e": piece.end, "b": piece.breaks}
    return message | {name: value for name, value in flags.items() if value}


def prompt_excerpt(prompt: str, limit: int = 220) -> str:
    """Return the prompt, visible, with its line breaks; of a long one the end."""
    start = prompt if len(prompt) <= limit else "…" + prompt[-limit:]
    return readable(start).replace("⏎", "⏎\n")


def answer_html(prompt: str, drawn: Sequence[Piece]) -> str:
    """Return the answer as HTML, for while it is written."""
    inside = "".join(_span(piece) for piece in drawn)
    return (
        '<div style="font-size:1.15rem;line-height:2;white-space:pre-wrap;overflow-wrap:anywhere;'
        'min-height:9rem" aria-label="The answer so far">'
        f'<span style="opacity:.65">{html(prompt_excerpt(prompt))}</span>{inside}</div>'
    )


def _span(piece: Piece) -> str:
    style = f"background:{LEVELS[piece.level][2]};border-radius:4px;padding:3px 1px"
    if piece.partial or piece.end:
        style += ";font-size:.8rem;opacity:.8"
    line_break = "<br>" if piece.breaks else ""
    return f'<span style="{style}">{html(piece.text)}</span>{line_break}'


def legend() -> str:
    """Return what the colours mean, as HTML."""
    cells = "".join(
        f'<span style="background:{colour};border-radius:4px;padding:1px 8px;margin-right:6px;'
        f'white-space:nowrap">'
        f"{html(name)}</span>"
        for _, name, colour in LEVELS
    )
    return (
        '<div style="font-size:.85rem;display:flex;flex-wrap:wrap;gap:4px 0">'
        '<span style="margin-right:8px">The model’s own probability of each token:</span>'
        f"{cells}</div>"
    )
