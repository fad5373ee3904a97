"""Guardrails: how often each guard leaked, with an answer beside each bar, and where guards stand.

Rows of HTML and no chart, so that an answer stands beside its bar on a projector and under it on a
phone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from components.guardrails.view import SAID, TOLD
from components.kit import theme
from components.kit.text import excerpt, html

if TYPE_CHECKING:
    from engine.guardrails.comparison import Tally
    from engine.guardrails.scenario import Scenario

STOPPED = theme.CUT
_FAINT = theme.with_alpha(theme.NEUTRAL, 0.16)

WHAT: Mapping[str, str] = {
    "no guard": "the model as it is",
    "input filter": "refuses a question with “{topic}”",
    "input filter, normalised": "the same, disguises removed first",
    "system turn": "tells the model not to say it",
    "temperature 0": "always takes the likeliest token",
    "token ban": "the word's own tokens can't come",
    "sequence ban": "nothing that completes the word can come",
    "output filter": "stops the answer at the word",
}
"""What each guard does, in a few words."""

PLACES: tuple[tuple[str, ...], ...] = (
    ("where a guard stands", "it sees", "it can stop", "what leaks", "what it costs"),
    (
        "before the tokenizer: input filter",
        "the prompt",
        "questions with a known word",
        "other words, look-alikes, other languages",
        "no time; refuses harmless questions with that word",
    ),
    (
        "in the prompt: system turn",
        "what the model reads",
        "what the model was trained to obey",
        "whatever it obeys no better than the user",
        "a few tokens read with every answer",
    ),
    (
        "on the scores: ban, allow-list, format",
        "ids, and what was written",
        "exactly those tokens",
        "the same meaning in other pieces or words",
        "a mask for every token; what is left can be worse or false",
    ),
    (
        "in choosing: low temperature, top-p",
        "the distribution",
        "rare accidents",
        "everything that is likely anyway",
        "no time; less variety",
    ),
    (
        "on the way to the screen: output filter",
        "the text so far",
        "words, once they are complete",
        "other words; the part already shown",
        "a delay of the held-back characters",
    ),
    (
        "in training",
        "the weights, before any prompt",
        "what was in the examples",
        "prompts unlike the examples",
        "the most work; it changes other answers too",
    ),
)
"""The places for a guard: a head and a row for each."""


def leak_title(tallies: Sequence[Tally]) -> str:
    """Return what the bars show, from their numbers."""
    first, others = tallies[0], tallies[1:]
    title = f"Without a guard the word leaks in {first.leaks} of {first.runs} runs"
    tight = [one for one in others if not one.leaks]
    if not tight:
        best = min(others, key=lambda one: one.leaks)
        return f"{title}, least with {best.guard}: {best.leaks}"
    title += "; never with: " + ", ".join(one.guard for one in tight)
    telling = max(tight, key=lambda one: one.told)
    if telling.told:
        title += f". Yet with the {telling.guard} {telling.told} answers tell it in other words"
    return title


def leak_rows(tallies: Sequence[Tally], scenario: Scenario) -> str:
    """Return a row for each guard as HTML: its name, its bar out of all runs, and an answer."""
    rows = "".join(_row(one, scenario) for one in tallies)
    return (
        f'<div role="list" aria-label="How often each guard leaked">{_legend(tallies)}{rows}</div>'
    )


def _legend(tallies: Sequence[Tally]) -> str:
    names = ((SAID, "the word can be read"), (TOLD, "told in other words"), (STOPPED, "stopped"))
    marks = "".join(
        f'<span style="margin-right:14px;white-space:nowrap"><span style="display:inline-block;'
        f'width:0.8em;height:0.8em;background:{colour};margin-right:5px"></span>{name}</span>'
        for colour, name in names
    )
    runs = max((one.runs for one in tallies), default=0)
    return (
        f'<div style="font-size:0.85rem;margin-bottom:2px">{marks}<span style="opacity:0.75">'
        f"each bar: {runs} runs</span></div>"
    )


def _row(one: Tally, scenario: Scenario) -> str:
    what = WHAT.get(one.guard, "").format(topic=scenario.topic)
    words = (
        f"{one.guard}: {one.leaks} of {one.runs} runs say the word, {one.told - one.leaks} tell it "
        f"in other words, {one.blocked} were stopped"
    )
    said = f"“{html(excerpt(one.example, 150))}”" if one.example.strip() else "nothing was shown"
    return (
        '<div role="listitem" style="display:flex;flex-wrap:wrap;gap:2px 16px;align-items:center;'
        f'padding:4px 0;border-top:1px solid {_FAINT}">'
        f'<div style="flex:1 0 170px"><b>{html(one.guard)}</b>'
        f'<div style="font-size:0.8rem;opacity:0.75;line-height:1.2">{html(what)}</div></div>'
        f'<div style="flex:2 1 230px" aria-label="{html(words)}" role="img">{_bar(one)}</div>'
        f'<div style="flex:3 1 260px;font-size:0.9rem;line-height:1.25;overflow-wrap:anywhere;'
        f'border-left:3px solid {_colour(one)};padding-left:8px">{said}</div></div>'
    )


def _bar(one: Tally) -> str:
    """Return the bar of one guard; all runs are its whole width."""
    runs = max(one.runs, 1)
    # A stopped answer may have told the secret before: then it has its place there.
    stopped = min(one.blocked, runs - one.told)
    parts = ((SAID, one.leaks), (TOLD, one.told - one.leaks), (STOPPED, stopped))
    segments = "".join(
        f'<div style="flex:{count} 0 0;min-width:0;background:{colour};color:#fff;'
        f'font-size:0.8rem;text-align:center;overflow:hidden">{count}</div>'
        for colour, count in parts
        if count
    )
    rest = runs - sum(count for _, count in parts)
    segments += f'<div style="flex:{rest} 0 0"></div>' if rest else ""
    numbers = f"{one.leaks} of {one.runs} say it" + (
        f", {one.told - one.leaks} more tell it" if one.told > one.leaks else ""
    )
    return (
        f'<div style="display:flex;height:1.2rem;line-height:1.2rem;background:{_FAINT};'
        f'border-radius:3px;overflow:hidden">{segments}</div>'
        f'<div style="font-size:0.8rem;line-height:1.2;opacity:0.85">{numbers}</div>'
    )


def _colour(one: Tally) -> str:
    return SAID if one.leaks else TOLD if one.told else STOPPED


def cost_line(tallies: Sequence[Tally]) -> str:
    """Return what the guards on the logits cost, as measured."""
    measured = [one for one in tallies if one.milliseconds]
    if not measured:
        return ""
    costs = ", ".join(f"{one.guard} {one.milliseconds:.2g} ms" for one in measured)
    return f"Time for one token's guard: {costs}."


def places_table() -> str:
    """Return the table of places as HTML that scrolls by itself where the page is narrow."""
    head, *rows = PLACES
    cell = f"padding:5px 8px;text-align:left;vertical-align:top;border-bottom:1px solid {_FAINT}"
    top = "".join(f'<th style="{cell}">{html(name)}</th>' for name in head)
    body = "".join(
        "<tr>"
        + f'<th scope="row" style="{cell}">{html(row[0])}</th>'
        + "".join(f'<td style="{cell}">{html(text)}</td>' for text in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        '<div style="overflow-x:auto" tabindex="0" aria-label="Where a guard can stand">'
        f'<table style="border-collapse:collapse;font-size:0.9rem;min-width:640px">'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )
