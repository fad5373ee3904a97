"""Guardrails: answers with their verdicts, and the tables of the single guards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from components.kit import theme
from components.kit.numbers import PERCENT_COLUMN
from components.kit.text import counted, html, readable, visible

if TYPE_CHECKING:
    from engine.guardrails.ban import Spelling
    from engine.guardrails.batch import RowStep
    from engine.guardrails.filters import Seen

SAID, TOLD, HELD = theme.NEGATIVE, theme.CATEGORICAL[4], theme.NEUTRAL
"""The colours of a verdict: the word can be read, another word tells the secret, neither."""


@dataclass(frozen=True)
class Verdict:
    """What a person learns from an answer."""

    colour: str
    words: str


def verdict(leaked: bool, told: Sequence[str], *, cut: str = "") -> Verdict:
    """Return the verdict on an answer.

    Args:
        leaked: whether the forbidden word can be read in it.
        told: other words in it that give the secret away.
        cut: why the answer may be unfinished, if it may be.
    """
    if leaked:
        colour, words = SAID, "The word can be read: a leak."
    elif told:
        others = " and ".join(f"“{word}”" for word in told[:2])
        colour, words = TOLD, f"The word is not there, but {others} gives the secret away."
        words = words.replace("gives", "give") if len(told) > 1 else words
    else:
        colour = HELD
        words = (
            "Neither the word nor one of the listed words is there. Whether the answer is true, "
            "no guard has checked."
        )
    return Verdict(colour, f"{words} {cut}".strip())


def answer(text: str, colour: str, note: str = "") -> str:
    """Return an answer as HTML, framed in the colour of its verdict.

    Args:
        text: what the model wrote, raw.
        colour: of the frame.
        note: a verdict of this project's own words.
    """
    shown = html(readable(text)) if text else "<i>no text</i>"
    return (
        f'<div style="border-left:4px solid {colour};padding:6px 12px;min-height:4.6em;'
        f'background:{theme.with_alpha(colour, 0.08)};overflow-wrap:anywhere">{shown}'
        f'<div style="font-size:0.85rem;opacity:0.75;margin-top:4px">{html(note)}</div></div>'
    )


def wordings_table(rows: Sequence[tuple[str, str, bool, bool]]) -> None:
    """Draw which wordings get through.

    Args:
        rows: what was done, the text, whether the plain and the normalising filter stop it.
    """
    through = {True: "stopped", False: "gets through"}
    st.dataframe(
        {
            "wording": [row[0] for row in rows],
            "text": [readable(row[1]) for row in rows],
            "plain filter": [through[row[2]] for row in rows],
            "after normalisation": [through[row[3]] for row in rows],
        },
        hide_index=True,
        width="stretch",
        key="wordings_table",
    )


def spellings_table(spellings: Sequence[Spelling]) -> None:
    """Draw how many tokens each spelling has, and which can be banned alone."""
    st.dataframe(
        {
            "spelling": [visible(way.text) for way in spellings],
            "ids": [" ".join(map(str, way.ids)) for way in spellings],
            "banned": [
                "yes"
                if way.can_be_banned
                else f"no: {len(way.ids)} tokens, which other words need too"
                for way in spellings
            ],
        },
        hide_index=True,
        width="stretch",
        key="spellings_table",
    )


def ban_title(single: int, left: int, whole: int) -> str:
    """Return what the two bans take away.

    Args:
        single: tokens that the token ban takes away.
        left: spellings that it can't take away, since they have several tokens.
        whole: tokens that the sequence ban takes away at every step.
    """
    return (
        f"The token ban takes {counted(single, 'token')} away and leaves "
        f"{counted(left, 'other spelling')}; the sequence ban takes {counted(whole, 'token')} at "
        "every step, and more once the word has begun"
    )


def taken_line(word: str, whole: Sequence[str], total: int) -> str:
    """Return a line on the tokens that the sequence ban takes along, as plain text.

    Args:
        word: the forbidden word.
        whole: some of the tokens that hold it, made visible.
        total: how many there are.
    """
    if not total:
        return f"No single token holds “{word}”, so every spelling of it takes several."
    rest = f" … and {total - len(whole):,} more" if total > len(whole) else ""
    names = ", ".join(whole)
    return (
        f"Whatever stands before, these tokens can't come, because “{word}” is in them: "
        f"{names}{rest}. Every other word that needs one of them is lost as well."
    )


def mask_table(steps: Sequence[RowStep], name_of: Callable[[int], bytes], vocabulary: int) -> None:
    """Draw the mask at every step: how much it allows, and what the model wanted instead."""
    st.dataframe(
        {
            "step": list(range(1, len(steps) + 1)),
            "allowed": [step.allowed for step in steps],
            "of the model's probability, forbidden": [100 * step.forbidden_mass for step in steps],
            "the model wanted": [visible(name_of(step.wanted)) for step in steps],
            "written": [visible(name_of(step.id)) for step in steps],
            "mask, ms": [round(step.guard_milliseconds, 2) for step in steps],
        },
        column_config={
            "allowed": st.column_config.NumberColumn(f"allowed of {vocabulary:,}", format="%d"),
            "of the model's probability, forbidden": st.column_config.ProgressColumn(
                min_value=0, max_value=100, format=PERCENT_COLUMN
            ),
        },
        hide_index=True,
        width="stretch",
        key="mask_table",
    )


def filtered_chat(seen: Seen, colour: str) -> str:
    """Return what the reader of a filtered chat has on the screen, as HTML.

    Args:
        seen: the text that the filter let through.
        colour: of the verdict on that text.
    """
    shown = html(readable(seen.text)) if seen.text else ""
    stop = (
        '<div style="margin-top:6px;padding:3px 8px;border:1px solid;border-radius:6px;'
        'opacity:0.8;font-size:0.9rem">The filter stopped this answer here.</div>'
        if seen.fired
        else ""
    )
    return (
        f'<div style="border-left:4px solid {colour};padding:6px 12px;min-height:4.6em;'
        f'background:{theme.with_alpha(colour, 0.08)};overflow-wrap:anywhere">{shown}{stop}</div>'
    )


def filter_words(seen: Seen, word: str, told: Sequence[str]) -> str:
    """Return what the reader of a filtered chat learns, as plain text."""
    if seen.whole_word:
        return f"“{word}” is on the screen: the filter was too late."
    if seen.word_part:
        return f"“{word[: seen.word_part]}” is on the screen: anybody can guess the rest."
    if seen.fired:
        return "Nothing of the word is on the screen, but that something was stopped is."
    if told:
        return f"The filter had nothing to stop: “{told[0]}” is not the word that it looks for."
    return "The filter had nothing to stop."


def hold_back_table(results: Sequence[Seen]) -> None:
    """Draw what a reader has seen for each length of the buffer."""
    st.dataframe(
        {
            "held back": [one.hold_back for one in results],
            "on the screen": [readable(one.text) for one in results],
            "of the word": [
                "all of it"
                if one.whole_word
                else counted(one.word_part, "letter")
                if one.word_part
                else "nothing"
                for one in results
            ],
        },
        hide_index=True,
        width="stretch",
        height=280,
        key="hold_back_table",
    )
