"""What a guess is answered with: which option holds on the running model, its numbers, and why.

One function per step makes the words from the engine's result. Where a model does not do what the
step expects, the words say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.kit.numbers import percent
from components.kit.text import counted, readable, shorten, visible

if TYPE_CHECKING:
    from engine.lesson.reading import Cut, Expected, HeadWorth, Looking, TwoOrders
    from engine.lesson.writing import FalseQuestion, Helped, Secret, Seeds, Written
    from engine.sampling.sharpness import Sharpness
    from engine.speculative.law import LawCheck

SAME = 1e-4
"""Relative differences below this are rounding."""
SPLIT = " | "
LONGEST = 130
"""Characters of a written text that are shown."""


@dataclass(frozen=True)
class Reveal:
    """The answer to one guess. All of it is plain text, shown literally."""

    right: int | None
    """Which option holds on this model; None if none of them does, or nothing can tell."""
    found: str
    """What was measured."""
    why: str
    """Why it is so, in a sentence."""
    texts: Sequence[tuple[str, str]] = ()
    """Texts that the model wrote for this: what stands before each, and the text."""


def tokens(found: Cut) -> Reveal:
    """Say how a word is cut, by itself and after a space."""
    alone, inside = len(found.alone), len(found.after_space)
    places = {1: 0, 2: 1, 3: 2, len(found.word): 3}
    same = "again " if inside == alone else ""
    return Reveal(
        right=places.get(alone),
        found=(
            f"“{found.word}” is cut into {counted(alone, 'piece')}: {_pieces(found.alone)}. After "
            f"a space, as inside of a sentence, it is {same}{counted(inside, 'piece')}: "
            f"{_pieces(found.after_space)} (· is the space)."
        ),
        why=(
            "The pieces (tokens) are what was frequent in a large pile of texts: a frequent word "
            "is one piece with its space, a rarer one several. The model sees the pieces' numbers "
            "and no letters."
        ),
    )


def order(found: TwoOrders) -> Reveal:
    """Say what two orders change in the first layer, and what is written without positions."""
    nothing = found.first_layer_untold < SAME
    later = (
        " Later layers do notice a little, since each piece has read only those before it."
        if found.last_layer_untold >= SAME
        else ""
    )
    return Reveal(
        right=2 if nothing else 1,
        found=(
            "Not told where the pieces stand, the first layer gets results that differ by "
            f"{100 * found.first_layer_untold:.3f} % between the two orders; told, by "
            f"{100 * found.first_layer:.3f} %. Told, the model goes on after the first one with "
            f"“{_line(found.told)}”; not told, with “{_line(found.untold)}”."
        ),
        why=(
            "A layer adds up what it reads, and a sum is the same in any order. So each piece must "
            f"be told where it stands (its position).{later}"
            if nothing
            else "A layer adds up what it reads, and a sum is the same in any order. But this "
            "model's first layer does not read the whole text at once, so it does not add up the "
            "same pieces."
        ),
    )


def answer(found: Seeds) -> Reveal:
    """Say how many different texts came, and what a question got."""
    different = found.different
    return Reveal(
        right=0 if different == 1 else 1 if different <= 3 else 2 if different <= 7 else 3,
        found=(
            f"{counted(different, 'different text')} of {len(found.texts)}. The same with a "
            "question: two tries of “Why is the sky blue?” gave what stands here."
        ),
        why=(
            "Inside there is a score for every possible next piece, and nothing else. A text comes "
            "about by drawing one piece, putting it at the end, and starting again."
        ),
        texts=_texts(found.answers),
    )


def attention(found: Looking, word: str) -> Reveal:
    """Say what the answer loses without a head that looks, another that looks, one that doesn't."""
    name, whole = _quoted(found.answer), found.probability
    falls = [worth.without < 0.7 * whole for worth in (found.needed, found.useless)]
    stays = found.useless.without > 0.9 * whole
    right = (0 if falls[1] else 1 if stays else None) if falls[0] else (2 if stays else None)
    told = (
        f"{name} has {percent(whole)}. {_head(found.needed)} gives “{word}” "
        f"{percent(found.needed.attention)} of its attention; without it {name} has "
        f"{percent(found.needed.without)}. {_head(found.useless)} gives it "
        f"{percent(found.useless.attention)}; without it: {percent(found.useless.without)}."
    )
    if found.idle is not None and found.idle.without < 0.7 * whole:
        told += (
            f" And {_head(found.idle).lower()} gives it only {percent(found.idle.attention)}, but "
            f"without it {name} has {percent(found.idle.without)}."
        )
    why = (
        "Where a head looks says what it reads, not what the answer needs: what it passes on may "
        "change nothing, or another head does the same work."
    )
    if right == 0:
        why = "Both were needed here. But looking alone does not show it: only taking away does."
    return Reveal(right=right, found=told, why=why)


def temperature(found: Sharpness, *, recorded: bool) -> Reveal:
    """Say what cold does where the likeliest word is wrong, and where it is right."""
    at_one, cold = found.at(1.0), found.at(0.0)
    wrong, right = (found.sampled_right_where(group) for group in (False, True))
    total = len(found.results)
    good = sum(result.is_right for result in found.results)
    told = f"Its likeliest word is wrong for {total - good} of {total} facts. "
    option = None
    if wrong:
        told += (
            f"There the right word comes in {percent(wrong[at_one])} of tries at temperature 1 and "
            f"in {percent(wrong[cold])} at 0. "
        )
        gone = wrong[cold] < 0.1 * wrong[at_one]
        option = 2 if gone else 0 if wrong[cold] > 1.1 * wrong[at_one] else 1
    if right:
        told += (
            f"For the other {good} it comes in {percent(right[at_one])} of tries at 1 and in "
            f"{percent(right[cold])} at 0. "
        )
    how = f"recorded with {found.model}" if recorded else "measured here"
    return Reveal(
        right=option,
        found=f"{told}({how[0].upper()}{how[1:]}.)",
        why=(
            "Cold makes the likeliest word certain, whether it is right or wrong. It changes how "
            "sharply the model chooses, and adds no knowledge."
        ),
    )


def greedy(found: Sequence[Expected]) -> Reveal:
    """Say what comes after the sun, and what right examples do to a wrong answer.

    Args:
        found: after the sun, and after a question without and with a right example.
    """
    sun, plain, helped = found
    right = (2 if sun.probability > 0.5 else 1) if sun.is_top else None
    if plain.top == helped.top and not plain.is_top:
        verb = "raises" if helped.top_probability > plain.top_probability else "lowers"
        example = (
            f" Another: after “{plain.prompt}” {_quoted(plain.top)} leads with "
            f"{percent(plain.top_probability)}. A right example in front, “{helped.prompt}”, "
            f"{verb} that to {percent(helped.top_probability)}."
        )
    else:
        example = (
            f" After “{plain.prompt}” {_quoted(plain.top)} leads with "
            f"{percent(plain.top_probability)}, after “{helped.prompt}” {_quoted(helped.top)} with "
            f"{percent(helped.top_probability)}."
        )
    lead = (
        f"“{sun.answer}”, with {percent(sun.probability)} of the probability"
        if sun.is_top
        else f"{_quoted(sun.top)}, with {percent(sun.top_probability)}; “{sun.answer}” has "
        f"{percent(sun.probability)}"
    )
    return Reveal(
        right=right,
        found=f"{lead}.{example}",
        why=(
            "A high probability means that this model would often go on like that. Nobody in it "
            "looks whether it is true."
        ),
    )


def helper(found: Helped, law: LawCheck) -> Reveal:
    """Say that a draft leaves the text alone, and what many rounds with chance show."""
    shares = _listed([f"{100 * count / law.rounds:.1f}" for count in law.counts])
    should = _listed([f"{100 * share:.0f}" for share in law.expected])
    same = "The text is the same with and without it" if found.same else "The texts part"
    end = (
        f"“{_line(found.without)}”"
        if found.same
        else f"“{_line(found.with_draft)}” with it, “{_line(found.without)}” without: two pieces "
        "were so nearly equal that rounding decided"
    )
    return Reveal(
        right=2 if found.same else 1,
        found=(
            f"The helper guessed {counted(found.guessed, 'piece')}, and the model kept "
            f"{found.kept}. {same}: {end}. With dice: three words that have {should} % without a "
            f"helper came in {shares} % of {law.rounds:,} rounds with one (a recorded count)."
        ),
        why=(
            "Each guess is held against what the model itself would do, and a wrong one is "
            "replaced by the model's own choice. A bad helper only saves less time."
        ),
    )


def ban(found: Secret) -> Reveal:
    """Say whether a ban on a word held, and what was told all the same."""
    said, count = sum(found.said), found.given_away
    listed = [
        f"told: {', '.join(words)}" if words else ("the word itself" if plain else "nothing told")
        for words, plain in zip(found.told, found.said, strict=True)
    ]
    return Reveal(
        right=0 if said else 2 if count else 1,
        found=(
            f"The word “{found.word}” comes in {said} of {len(found.answers)} answers. In {count} "
            "of them a listed other word gives the secret away. (The list is short; read for "
            "yourself.)"
        ),
        why=(
            "The ban knows letters. What a sentence means is spread over all of its words, and "
            "there are always others."
            if count
            else "The ban knows letters. That no other word of the list came is luck: nothing in a "
            "ban keeps it away."
        ),
        texts=[
            (f"Try {number}, {what}", _shown(answer))
            for number, (answer, what) in enumerate(zip(found.answers, listed, strict=True), 1)
        ],
    )


def stored(found: Sequence[Expected]) -> Reveal:
    """Say how probable facts are forwards and backwards.

    Args:
        found: forwards and backwards, of one fact and of a second one.
    """
    ahead, back, ahead_too, back_too = found
    ratio = back.probability / max(ahead.probability, 1e-9)
    right = 0 if ratio > 0.75 else 1 if ratio > 0.25 else 2
    why = (
        "Training moved weights so that some words follow others, in the direction in which it "
        "read them. There is no list of facts to look up. But what it saw very often can come out "
        "word for word."
    )
    if right == 0:
        why = (
            "This model has read the fact often enough in both directions. That it has no list to "
            "look facts up in shows with rarer ones: try some."
        )
    return Reveal(
        right=right if ahead.is_top else None,
        found=(
            f"“{ahead.answer}” has {percent(ahead.probability)} forwards, “{back.answer}” "
            f"{percent(back.probability)} backwards. And {_fact(ahead_too)}, but {_fact(back_too)}."
            if back_too.probability < ahead_too.probability
            else f"“{ahead.answer}” has {percent(ahead.probability)} forwards, “{back.answer}” "
            f"{percent(back.probability)} backwards; {_fact(ahead_too)}, {_fact(back_too)}."
        ),
        why=why,
    )


def wrong(found: FalseQuestion, facts: Sharpness | None) -> Reveal:
    """Say whether an answer objects, and whether its probabilities warn.

    Args:
        found: the answers.
        facts: what the model's probabilities are worth on facts; None if nobody measured it.
    """
    objects = sum(found.objects)
    warns = ": hardly a warning" if found.usual > 0.7 * found.usual_when_true else ""
    worth = ""
    if facts is not None:
        bins = [entry for entry in facts.calibration() if entry.count]
        low, high = bins[0], bins[-1]
        worth = (
            f" On the facts of guess 5 a probability was a hint: above {percent(high.low)} its "
            f"likeliest word was right in {high.right} of {high.count}, under {percent(low.high)} "
            f"in {low.right} of {low.count}."
        )
    why = (
        "It goes on as such texts usually go on, and a “why” is usually followed by an "
        "explanation. A probability is a hint, and no proof."
    )
    right = 0 if 2 * objects > len(found.objects) else 2
    if right == 0:
        why = (
            "Texts that it was trained on object to such questions, so this model does too. It "
            "does not look at the sky: other false questions may get a fluent answer."
        )
    return Reveal(
        right=right,
        found=(
            f"{objects or 'None'} of {len(found.answers)} answers says in plain words that the sky "
            f"is not green. Half of their pieces had a probability above {percent(found.usual)}; "
            f"in answers about the blue sky, above {percent(found.usual_when_true)}{warns}.{worth}"
        ),
        why=why,
        texts=_texts(found.answers),
    )


def _listed(numbers: Sequence[str]) -> str:
    return f"{', '.join(numbers[:-1])} and {numbers[-1]}"


def _pieces(pieces: Sequence[bytes]) -> str:
    return SPLIT.join(visible(piece) for piece in pieces)


def _quoted(data: bytes) -> str:
    text = data.decode(errors="replace").strip(" ")
    return f"“{readable(text) if text else visible(data)}”"


def _line(text: str) -> str:
    return shorten(readable(text.strip(" ")), LONGEST)


def _head(worth: HeadWorth) -> str:
    return f"Head {worth.head} of layer {worth.layer}"


def _fact(asked: Expected) -> str:
    return f"after “{asked.prompt}” “{asked.answer}” has {percent(asked.probability)}"


def _shown(text: Written) -> str:
    return _line(text.text if text.ended else f"{text.text.rstrip()} …")


def _texts(texts: Sequence[Written]) -> list[tuple[str, str]]:
    return [(f"Try {number}", _shown(text)) for number, text in enumerate(texts, 1)]
