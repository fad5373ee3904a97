"""One fact asked in several ways: what the model writes, and how probable the answers are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.numbers import percent
from components.kit.text import html, markdown, readable
from components.kit.theme import ACCENT, NEUTRAL, PICKED, with_alpha

if TYPE_CHECKING:
    from engine.generation.asking import Asked

CAPITALS = (" Canberra", " Sydney")
FACTS: Mapping[str, tuple[tuple[str, tuple[str, ...], bool], ...]] = {
    "Australia in three ways": (
        ("The capital of Australia is", CAPITALS, False),
        ("What is the capital of Australia?", CAPITALS, True),
        ("The capital of Australia is", CAPITALS, True),
    ),
    "Australia after a hint": (
        ("The capital of Australia is", CAPITALS, False),
        ("Canberra is in Australia. The capital of Australia is", CAPITALS, False),
        ("The capital of Germany is Berlin. The capital of Australia is", CAPITALS, False),
    ),
    "France backwards": (
        ("The capital of France is", (" Paris",), False),
        ("Paris is the capital of", (" France",), False),
    ),
}
"""What is asked: by its name, each way with its text, the answers that are compared, and whether it
is a chat turn."""


def title(found: Sequence[Asked]) -> str:
    """Say what comes out in each way, as Markdown."""
    if all(len(one.way.answers) == 1 for one in found):
        shares = " and ".join(
            f"{_word(one.way.answers[0])} {percent(one.shares[0]) if one.shares else 'never'}"
            for one in found
        )
        return f"**One fact from two sides: {shares}**"
    said = [_winner(one) for one in found]
    if len(set(said)) == 1:
        return f"**{len(found)} ways to ask, one answer: {said[0]}**"
    return f"**{len(found)} ways to ask the same: {', then '.join(said)}**"


def _winner(one: Asked) -> str:
    """Return the compared answer that is ahead."""
    if not one.shares:
        return "neither"
    best = max(range(len(one.shares)), key=lambda number: one.shares[number])
    return _word(one.way.answers[best])


def _word(answer: str) -> str:
    return markdown(readable(answer.strip()))


def rows(found: Sequence[Asked]) -> str:
    """Return a row for each way as HTML: what was asked, what is written, and the bars."""
    return f'<div role="list" aria-label="Ways to ask">{"".join(_row(one) for one in found)}</div>'


def _row(one: Asked) -> str:
    kind = "as a chat turn" if one.way.chat else "as text to go on with"
    text = (
        f"{html(readable(one.before))}"
        f'<b style="border-bottom:2px solid {PICKED}">{html(readable(one.said))}</b>'
        f'<span style="opacity:0.7">{html(readable(one.after))}</span>'
    )
    bars = "".join(
        _bar(answer, share, number)
        for number, (answer, share) in enumerate(zip(one.way.answers, one.shares, strict=False))
    )
    return (
        '<div role="listitem" style="display:flex;flex-wrap:wrap;gap:2px 24px;align-items:center;'
        f'padding:8px 0;border-top:1px solid {with_alpha(NEUTRAL, 0.35)}">'
        '<div style="flex:1 1 300px;min-width:0;overflow-wrap:anywhere">'
        f'<div style="font-size:0.8rem;opacity:0.75">{kind}</div>'
        f"<div>“{html(readable(one.way.text))}”</div>"
        f'<div style="font-size:0.95rem">It writes: {text}</div></div>'
        '<div style="flex:1 1 280px;min-width:0">'
        f"{bars or 'None of the answers comes in these tokens.'}</div></div>"
    )


def _bar(answer: str, share: float, number: int) -> str:
    colour = ACCENT if number == 0 else NEUTRAL
    return (
        '<div style="display:grid;grid-template-columns:5.5rem 1fr 3.4rem;gap:8px;'
        'align-items:center;line-height:1.5">'
        f"<span>{html(readable(answer.strip()))}</span>"
        f'<span style="background:{with_alpha(NEUTRAL, 0.15)};border-radius:3px;display:flex">'
        f'<span style="flex:{share:.4f} 0 0;height:0.9rem;border-radius:3px;'
        f'background:{colour}"></span><span style="flex:{1 - share:.4f} 0 0"></span></span>'
        f"<span>{percent(share)}</span></div>"
    )


def words(found: Sequence[Asked]) -> None:
    """Say what follows from the rows."""
    st.markdown(
        "**There is no list of facts in it to look up.** The weights give every text its own list "
        "of probabilities, so the way of asking is a part of the answer. To say that a model "
        "“knows” or “believes” something is to leave out how it was asked."
    )
    if any(one.way.chat for one in found):
        st.caption(
            "Always the likeliest token is written. In a chat the model begins its answer with "
            "words of its own; the bars are the probabilities at the underlined word."
        )
    else:
        st.caption(
            "Always the likeliest token is written. The bars are the probabilities of the very "
            "next token, the underlined one."
        )
