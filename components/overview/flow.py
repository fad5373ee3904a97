"""The overview picture: the whole pipeline in the order of the work, with this prompt's values.

Each card opens its stage's page. A light walks through the cards, with a sentence on each, when the
picture is first seen and when the text has grown; the speaker sets its pace, stops it and steps by
hand. What everything means is told on hover and on keyboard focus. All text and numbers come from
`cards`, `walk` and `explain`; the browser's part lies beside them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from components.kit import theme
from components.kit.browser import component
from components.kit.text import counted
from components.overview import cards, explain, walk
from engine.overview.facts import Overview

CARD_STAGES: Mapping[str, str] = {
    "text": "tokenizer",
    "tokens": "tokenizer",
    "vectors": "embedding",
    "attention": "attention",
    "feed_forward": "feed_forward",
    "scores": "lm_head",
    "pick": "sampling",
    "detokenizer": "generation",
    "speculative": "speculative",
}
"""The stage whose page a card opens."""

PACES: Mapping[str, int] = {"slow": 5000, "medium": 2500, "fast": 800}
"""How many milliseconds the light stays on a stage; the first is the usual one."""

COLOURS: Mapping[str, str] = {
    "picked": theme.PICKED,
    "key": theme.KEY,
    "value": theme.VALUE,
    "plus": theme.POSITIVE,
    "minus": theme.NEGATIVE,
}


_COMPONENT = component(
    "overview/flow",
    '<div class="root">\n</div>',
    scripts=("draw", "explain", "cards", "wires", "walk"),
)


def overview_flow(
    overview: Overview,
    *,
    stages: Collection[str],
    key: str = "overview_flow",
    guards: bool = False,
    recorded: bool = False,
    walks: bool = True,
    hides: bool = False,
) -> None:
    """Draw the picture; a click on a card opens its stage's page.

    Args:
        overview: the facts of one pass and one draw.
        stages: keys of the stages that have a page; other cards are not links.
        key: the component's key; one picture per page and key.
        guards: mark where a guardrail could stand.
        recorded: say in the picture that it is a recorded run.
        walks: let a light walk through the cards.
        hides: cover what the model expects, so that a class can guess.
    """
    _COMPONENT(
        key=key,
        data=payload(
            overview, stages=stages, guards=guards, recorded=recorded, walks=walks, hides=hides
        ),
    )


def payload(
    overview: Overview,
    *,
    stages: Collection[str],
    guards: bool = False,
    recorded: bool = False,
    walks: bool = True,
    hides: bool = False,
) -> dict[str, Any]:
    """Return what the browser needs for one picture."""
    kind = "recorded" if recorded else "live"
    return {
        "cards": cards.cards(overview),
        "links": {card: stage if stage in stages else None for card, stage in CARD_STAGES.items()},
        "guards": dict(cards.GUARDS) if guards else {},
        "badge": "a recorded run" if recorded else "",
        "colours": dict(COLOURS),
        "walk": walk.steps(overview, hides=hides) if walks else [],
        "hides": hides,
        "paces": dict(PACES),
        "legend": [*explain.LEGEND],
        # A light of its own walks only where the picture is live and new, or the text has grown:
        # when the last tick begins this one.
        "live": not recorded,
        "tick": f"{kind} " + "".join(f"{token.id} " for token in overview.tokens),
        "label": f"The pipeline, {kind}, at {counted(len(overview.tokens), 'token')}",
    }


def as_text(overview: Overview) -> str:
    """Return the picture in sentences, one per stage, as plain text."""
    return "\n".join(
        card["summary"] for card in cards.cards(overview).values() if card.get("summary")
    )
