"""What a class answered, as bars in HTML: beside the model's distribution, or option by option.

Bars of HTML wrap and grow with the page's type, on a phone as on a projector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.kit.numbers import percent
from components.kit.text import counted, html, readable, visible
from components.kit.theme import ACCENT, CATEGORICAL, PICKED

if TYPE_CHECKING:
    from engine.classroom.records import Answer, Round
    from engine.classroom.scoring import Row, Score, Word

CLASS, MODEL = CATEGORICAL[2], ACCENT
NAMED = 3
"""Names that stand beside a word."""
SHOWN_TEXT = 40
"""Characters of a word that are shown."""
BAR = 62
"""Percent of the width that the longest bar takes; the rest is for its number."""


def passage(text: str, came: bytes | None = None, limit: int = 300) -> str:
    """Return the text whose next word is asked for, as HTML: its end, then a gap.

    Args:
        text: the text so far.
        came: the token that fills the gap; None while it is open.
        limit: the most characters of the text that are shown.
    """
    if came is None:
        gap = f"border-bottom:3px solid {PICKED};padding:0 1.4em;margin-left:0.2em"
        end = f'<span style="{gap}" aria-label="the next word"></span>'
    else:
        end = f'<b style="color:{PICKED}">{html(visible(came, limit=20))}</b>'
    shown = text if len(text) <= limit else "…" + text[-limit:]
    lines = "<br>".join(html(readable(line)) for line in shown.split("\n"))
    return (
        '<p style="font-size:1.5rem;line-height:1.4;overflow-wrap:anywhere;margin:0">'
        f"{lines}{end}</p>"
    )


def big_count(answered: int, here: int) -> str:
    """Return how many have answered, large, as HTML."""
    return (
        '<p style="font-size:3rem;font-weight:700;line-height:1.1;margin:0.3rem 0" role="status">'
        f'{answered} <span style="font-size:1.5rem;font-weight:500">of {max(here, answered)} '
        f"{'has' if answered == 1 else 'have'} answered</span></p>"
    )


def headline(score: Score) -> str:
    """Say what came, and what class and model had given it, as plain text."""
    came = f"“{visible(score.came.data, limit=20)}” came."
    model = f"the model gave it {percent(score.came.model_probability)}"
    if not score.answers:
        return f"{came} Nobody answered; {model}."
    return (
        f"{came} {score.came.voices} of {score.answers} said it "
        f"({percent(score.came.class_share)}); {model}."
    )


def class_beside_model(score: Score) -> str:
    """Return the bars as HTML: for each token the share of the class, and the model's below it."""
    high = max((max(row.class_share, row.model_probability) for row in score.rows), default=1.0)
    legend = "".join(
        f'<span style="display:inline-flex;align-items:center;gap:0.4em;margin-right:1.4em">'
        f'<span style="width:0.9em;height:0.9em;border-radius:3px;background:{colour}"></span>'
        f"{name}</span>"
        for colour, name in ((CLASS, "the class"), (MODEL, "the model"))
    )
    rows = "".join(_row(row, high, row.token_id == score.came.token_id) for row in score.rows)
    return (
        f'<div style="font-size:1rem"><div style="margin-bottom:0.4rem">{legend}</div>'
        f'<div style="display:grid;gap:0.35rem">{rows}</div></div>'
    )


def _row(row: Row, high: float, came: bool) -> str:
    frame = f"2px solid {PICKED}" if came else "2px solid transparent"
    mark = f' <b style="color:{PICKED}">came</b>' if came else ""
    return (
        f'<div style="display:grid;grid-template-columns:minmax(6.5em,2fr) 7fr;gap:0.6rem;'
        f'align-items:center;border:{frame};border-radius:8px;padding:0.1rem 0.4rem">'
        f'<div style="overflow-wrap:anywhere"><code style="font-size:1.05rem">'
        f"{html(visible(row.data, limit=16))}</code> "
        f'<span style="font-size:0.75rem;opacity:0.75">{row.token_id}</span>{mark}</div>'
        f"<div>{_bar(row.class_share, high, CLASS, f'{percent(row.class_share)} ({row.voices})')}"
        f"{_bar(row.model_probability, high, MODEL, percent(row.model_probability))}</div></div>"
    )


def _bar(value: float, high: float, colour: str, text: str) -> str:
    part = BAR * value / high
    return (
        '<div style="display:flex;align-items:center;gap:0.5rem;line-height:1.25">'
        f'<div style="flex:{part:.2f} 0 {2 if value else 0}px;height:0.8rem;border-radius:3px;'
        f'background:{colour}"></div>'
        f'<span style="flex:{100 - part:.2f} 0 0;white-space:nowrap">{html(text)}</span></div>'
    )


def word_line(word: Word, answers: Sequence[Answer]) -> str:
    """Say who gave a word and how it is cut, as plain text."""
    pieces = " | ".join(visible(piece, limit=12) for piece in word.pieces)
    cut = "one token" if len(word.ids) == 1 else counted(len(word.ids), "token")
    named = names([one for one in answers if one.text in word.texts])
    said = " / ".join(visible(text, limit=SHOWN_TEXT) for text in word.texts[:2])
    return f"{word.count} × {said}: {cut}, {pieces}{f' ({named})' if named else ''}"


def whole_and_cut(score: Score) -> str:
    """Say how many of the given words are one token, as plain text."""
    whole = sum(len(word.ids) == 1 for word in score.words)
    cut = len(score.words) - whole
    if not score.words:
        return ""
    return (
        f"{counted(whole, 'word')} {'is' if whole == 1 else 'are'} one token; {cut} "
        f"{'takes' if cut == 1 else 'take'} several, of which the first counts."
    )


def names(answers: Sequence[Answer]) -> str:
    """Return who they are: a few names, and how many more; empty if nobody gave a name."""
    known = [readable(one.name) for one in answers if one.name]
    if not known:
        return ""
    more = len(answers) - len(known[:NAMED])
    return ", ".join(known[:NAMED]) + (f" and {more} more" if more else "")


def bits_line(score: Score) -> str:
    """Say how surprised class and model were about the token that came, as plain text."""
    if score.class_bits is None:
        return f"Surprise about it: the model {score.model_bits:.1f} bits."
    return (
        f"Surprise about it: the class {score.class_bits:.1f} bits, the model "
        f"{score.model_bits:.1f} bits. Fewer is better; 1 bit less means twice the probability."
    )


def standing_line(bits: Sequence[tuple[float, float]]) -> str:
    """Say who was less surprised over all rounds, as plain text; empty before the second one."""
    if len(bits) < 2:
        return ""
    ours = sum(one for one, _ in bits) / len(bits)
    models = sum(other for _, other in bits) / len(bits)
    if f"{ours:.2f}" == f"{models:.2f}":
        who = "both alike"
    else:
        who = "the class was less surprised" if ours < models else "the model was less surprised"
    return (
        f"Over {len(bits)} rounds: the class {ours:.2f} bits per token, the model {models:.2f}: "
        f"{who}."
    )


HOW_IT_IS_SCORED = (
    "The class's probability for a token is its share of the answers, with one more voice that is "
    "spread evenly over all {vocabulary:,} tokens, so that a word nobody gave is unlikely and not "
    "impossible. The model's is its own, before the sampling settings. A word is read with a space "
    "before it or without, and with a small first letter or as typed, whichever the model finds "
    "likelier. Since the model itself drew the token, it has the advantage over many rounds. "
    "Surprise is −log₂ of the probability, as in Shannon's guessing game of 1951."
)


def option_bars(current: Round) -> str:
    """Return how many chose which option, as HTML; the right one is marked."""
    texts = [answer.text for answer in current.answers]
    counts = [texts.count(option) for option in current.question.options]
    high = max([*counts, 1])
    total = max(len(texts), 1)
    rows = []
    for number, (option, count) in enumerate(zip(current.question.options, counts, strict=True)):
        right = number == current.question.right
        frame = f"2px solid {PICKED}" if right else "2px solid transparent"
        mark = f' <b style="color:{PICKED}">right</b>' if right else ""
        rows.append(
            f'<div style="border:{frame};border-radius:8px;padding:0.25rem 0.5rem">'
            f'<div style="font-size:1.15rem;overflow-wrap:anywhere">{html(readable(option))}{mark}'
            f"</div>{_bar(count, high, CLASS, f'{count} ({percent(count / total)})')}</div>"
        )
    return f'<div style="display:grid;gap:0.35rem">{"".join(rows)}</div>'
