"""What there is to try on the LM head's page, checked on this prompt's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kit.numbers import percent
from components.kit.tasks import Task
from components.kit.text import markdown, visible
from components.link import keys
from engine.basics import distribution
from pages.frame import results
from pages.lm_head.views import PARTS

if TYPE_CHECKING:
    from pages.frame.live import Live


def found(live: Live, chosen: int) -> list[Task]:
    """Return what to try; `chosen` is the token whose score is spelled out."""
    scores = results.scores(live.model.source, live.ids)
    logits, best = scores.logits, scores.best
    top = float(best.probabilities[0])
    bytes_of = live.model.tokenizer.bytes_of

    def name_of(token_id: int) -> str:
        return markdown(visible(bytes_of(token_id), limit=20))

    rank = distribution.rank_of(logits, chosen)
    return [
        Task(
            "Find a prompt whose next token is almost certain: above 90 %.",
            top > 0.9,
            f"The top token, {name_of(int(best.ids[0]))}, has {percent(top)}.",
            "Begin a saying or a name that everybody can end. “Examples” has one.",
            {keys.LM_HEAD_PART: PARTS[0]},
        ),
        Task(
            "Find a prompt that leaves more than 200 effective choices.",
            distribution.effective_choices(scores.entropy_bits) > 200,
            f"Now it is {distribution.effective_choices(scores.entropy_bits):,.1f}.",
            "Where could a text go on in any way? Try the beginning of a story.",
            {keys.LM_HEAD_PART: PARTS[1]},
        ),
        Task(
            "Find a word that fits so badly that 40,000 tokens come before it.",
            rank > 40_000,
            f"{name_of(chosen)} is number {rank:,}.",
            "Look up pieces of program code or of another language: “Find a token”.",
            {keys.LM_HEAD_PART: PARTS[0]},
        ),
    ]
