"""The walk through the picture: which stage is lit after which, and one plain sentence for each."""

from __future__ import annotations

from components.kit.numbers import percent
from components.kit.text import counted, visible
from engine.overview.facts import Overview

Step = dict[str, str]


TELLING = frozenset({"lens", "scores", "pick", "detokenizer"})
"""The cards that tell which token the model expects."""


def steps(overview: Overview, *, hides: bool = False) -> list[Step]:
    """Return the stages in the order of the work: the card, its name and the sentence on it.

    Args:
        overview: the facts.
        hides: leave out the stages that tell what the model expects.
    """
    sentences = {
        "text": ("Text", _text(overview)),
        "tokens": ("Word pieces", _tokens(overview)),
        "vectors": ("Vectors", _vectors(overview)),
        "attention": ("Attention", _attention(overview)),
        "feed_forward": ("Feed-forward", _feed_forward(overview)),
        "lens": ("Layer after layer", _lens(overview)),
        "scores": ("Scores", _scores(overview)),
        "pick": ("Pick", _pick(overview)),
        "detokenizer": ("Back to text", _detokenizer(overview)),
    }
    return [
        {"card": card, "title": title, "sentence": sentence}
        for card, (title, sentence) in sentences.items()
        if not (hides and card in TELLING)
    ]


def decodes(overview: Overview) -> bool:
    """Return whether a new token goes through alone: the model has written at least one."""
    return len(overview.tokens) > overview.prompt_tokens


def phase(overview: Overview) -> str:
    """Say in a few words how many tokens go through the layers in this pass."""
    if decodes(overview):
        return "decode: 1 new token"
    return f"prefill: {counted(len(overview.tokens), 'token')} at once"


def _name(data: str) -> str:
    return visible(bytes.fromhex(data), limit=14)


def _text(overview: Overview) -> str:
    if decodes(overview):
        return (
            f"{_name(overview.tokens[-1].data)} was appended. All of it now runs once more, for "
            "the next token."
        )
    if overview.turns:
        return (
            "Your words, wrapped as one turn of a chat. A model can’t read letters, only numbers."
        )
    return "This is the text. A model can’t read letters, only numbers."


def _tokens(overview: Overview) -> str:
    last = overview.tokens[-1]
    return (
        f"It is cut into known pieces, {counted(len(overview.tokens), 'token')}. Each has a "
        f"number, its id: {_name(last.data)} is {last.id}."
    )


def _vectors(overview: Overview) -> str:
    ways = {
        "rope": "Its place in the text is written in by turning pairs of them.",
        "learned": "A vector for its place in the text is added.",
    }
    way = ways.get(overview.architecture.positions, "")
    return f"Each id picks {overview.architecture.width:,} learned numbers. {way}".strip()


def _attention(overview: Overview) -> str:
    shape, head = overview.architecture, overview.head
    last = _name(overview.tokens[-1].data)
    looks = (
        f"this head of {last} looks at {_name(overview.tokens[head.reads].data)}, "
        f"{percent(head.weight)}"
    )
    if decodes(overview):
        kept = counted(len(overview.tokens) - 1, "earlier token")
        return (
            f"Only {last} goes through the {shape.layers} layers. It looks back at what {kept} "
            f"left in the cache: {looks}."
        )
    return (
        f"{counted(len(overview.tokens), 'token')} go through {shape.layers} layers in one pass, "
        f"and each looks back at those before it: {looks}."
    )


def _feed_forward(overview: Overview) -> str:
    shape = overview.architecture
    return (
        f"Then each token is worked on alone: {shape.width:,} numbers become {shape.ff_width:,}, "
        f"then {shape.width:,} again, and are added to its vector."
    )


def _lens(overview: Overview) -> str:
    early, last = overview.lens[0], overview.lens[-1]
    if early is last:
        return f"That happens in {counted(last.layers, 'layer')}, one after the other."
    return (
        f"That happens {last.layers} times. Stopped after {early.layers} layers it would say "
        f"{_name(early.data)}, after all {last.layers} it says {_name(last.data)}."
    )


def _scores(overview: Overview) -> str:
    best = overview.candidates[0]
    return (
        f"The last vector gives each of {overview.architecture.vocabulary:,} tokens a score. "
        f"On top: {_name(best.data)}, {percent(best.probability)}."
    )


def _pick(overview: Overview) -> str:
    sampling = overview.sampling
    drawn = _name(sampling.drawn.data)
    if sampling.temperature == 0:
        return f"At temperature 0 the top token is taken: {drawn}."
    if sampling.survivors == 1:
        return f"The settings leave one token, {drawn}: nothing is left to chance."
    chance = percent(sampling.drawn.end - sampling.drawn.start)
    return (
        f"The settings leave {counted(sampling.survivors, 'token')}. One random number, "
        f"{sampling.u:.3f}, falls on {drawn} ({chance})."
    )


def _detokenizer(overview: Overview) -> str:
    fact = overview.detokenizer
    if fact.ends:
        return "The drawn token is one that ends the answer: here the loop stops."
    if not fact.released:
        return "Its bytes are half a character: they wait for the rest. Then it all runs again."
    return (
        f"Its bytes become “{visible(fact.released)}”. That is appended, and all of it runs again."
    )
