"""Speculative decoding, In depth and Try this: the rule, the formula, and where it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.numbers import percent
from components.kit.tasks import Task
from components.kit.text import markdown, shorten
from components.link import keys
from components.speculative.recorded import recorded
from engine.speculative.drafts import DraftKind

if TYPE_CHECKING:
    from engine.speculative.race import Pay
    from engine.speculative.rounds import DraftRound


def rule(part: DraftRound | None, summed: Pay | None, k: int, *, own: bool) -> None:
    """Write the rule with the numbers of a round, and the formula with those of a race.

    Args:
        part: the race's first round.
        summed: what the race says about speed; None if it is too short for that.
        k: guesses per round.
        own: whether the race was run here; else it is the recorded one.
    """
    st.markdown("#### The rule")
    st.latex(
        r"x \sim q, \quad \text{keep } x \text{ if } u < \frac{p(x)}{q(x)}, \quad "
        r"\text{else } x \sim \frac{\max(p - q, 0)}{\sum \max(p - q, 0)}"
    )
    token = None if part is None else next(iter(part.proposed), None)
    if part is not None and token is not None and token.u is not None:
        sign = "<" if token.fate == "accepted" else r"\geq"
        st.latex(
            rf"\text{{round {part.index + 1}, first guess: }} u = {token.u:.3f} {sign} "
            rf"\frac{{{token.p:.3f}}}{{{token.q:.3f}}} = {token.p / token.q:.3f}"
        )
    st.markdown(
        "Why this keeps the distribution: a token comes out as an accepted guess with probability "
        "min(p, q), and as a redrawn one with max(p − q, 0), since the chance of a rejection is "
        "just the sum that what is left, max(p − q, 0), is divided by. Together that is p, for any "
        "q. “Same distribution?” draws it."
    )
    st.markdown("#### When it pays")
    st.latex(
        r"\text{tokens per pass} = \frac{1 - a^{k+1}}{1 - a}, \qquad \text{speed-up} = "
        r"\frac{\text{tokens per pass}}{k \cdot c_\text{guess} + c_\text{check}}"
    )
    if summed is None:
        st.markdown("Your race ended within one round, too early to say what it costs.")
    else:
        race = "your race" if own else "the recorded race"
        st.markdown(
            f"In {race} the share of checked guesses that were accepted is a = "
            f"{summed.acceptance:.2f}, k = {k}, a guess costs {summed.draft_cost:.2f} and a check "
            f"{summed.check_cost:.2f} plain steps: {summed.predicted:.2f} by the formula, "
            f"{summed.speed_up:.2f} measured (without the reading of the prompt). The formula "
            "takes every guess to be right with the same chance, whatever came before it, and "
            "every round to have k guesses, which a prompt lookup that finds nothing has not."
        )


def rest() -> None:
    """Write what is the same for every prompt."""
    st.markdown("#### The drafts here")
    st.markdown(
        "- **Prompt lookup** is no model: it looks for the last three tokens (or two, or one) in "
        "the text so far and guesses what followed them there. It is sure of itself: its q is 1 "
        "for the token that it found and 0 for all others.\n"
        "- **Early exit** is the model itself, cut after N layers, with its own final norm and LM "
        "head. No layer was trained for that, so it needs many of them to be right.\n"
        "- **Distilled** is one layer, trained for nothing but this, on texts that this model "
        "wrote. It reads the embedding of the last token and the model's last hidden state before "
        "it, which already holds what the model thinks comes next. Its LM head is the model's own, "
        "cut to the 8,192 most used tokens: q is 0 for the others, and p − q redraws them. It "
        "exists for the default model alone, and guesses from the second round on, when the model "
        f"has read the prompt. {distilled_words()}"
    )
    st.markdown("#### Shapes")
    st.markdown(
        "- A plain step multiplies every matrix by one row, [1, D]; a check by k + 1 rows. Either "
        "way all weights are read once, and reading them is what takes the time.\n"
        "- After a rejection the KV cache is rolled back to what was kept; a rejected guess must "
        "not be seen by anything that follows."
    )
    st.markdown("#### What large models do differently")
    st.markdown(
        "- Their drafts are 10 to 50 times smaller models of the same family, or extra heads on "
        "the model itself (Medusa, EAGLE, multi-token prediction), trained for nothing else. The "
        "distilled draft here is built like EAGLE's.\n"
        "- They guess a tree of continuations and check all of its branches in one pass.\n"
        "- On a busy server the gain shrinks: many users' tokens already share each pass."
    )
    st.markdown("#### What this view does not show")
    st.markdown(
        "- Same distribution does not mean same text: with a temperature above 0 the random "
        "numbers are used up differently, so a run with a draft says something else than a plain "
        "run with the same seed. Only greedy texts are equal (but for near ties: a pass over "
        "several tokens rounds differently from a pass over one).\n"
        "- The times hold for this machine at this moment, with this model's size."
    )


def distilled_words() -> str:
    """Say as Markdown what was recorded of the distilled draft with one guess per round."""
    recording = recorded()
    name = DraftKind.DISTILLED.value
    found = [(measured, measured.drafts[name][0]) for measured in recording.pays]
    told = "; ".join(
        f"after “{markdown(shorten(measured.prompt, 40))}” {percent(row.acceptance)} of its "
        f"guesses were accepted, {row.speed_up:.2f} × plain decoding"
        for measured, row in found
    )
    return f"Recorded with one guess per round, greedy: {told}."


RACE: Mapping[str, str] = {keys.DRAFT_QUESTION: "The race"}
"""Where the page's tasks are done."""


def tasks(
    rounds: Sequence[DraftRound], summed: Pay | None, *, greedy: bool, same: bool
) -> list[Task]:
    """Return what to try: the task, whether the race on the page meets it, and where it stands."""
    rejections = sum(part.source == "redrawn" for part in rounds)
    speed = 0.0 if summed is None else summed.speed_up
    accepted = 0.0 if summed is None else summed.acceptance
    return [
        Task(
            "Find a prompt on which a draft makes it **at least 1.5 × as fast**. (Which texts "
            "repeat what stands in the prompt?)",
            speed >= 1.5,
            f"The last race: {speed:.2f} × plain decoding." if speed else "No race yet.",
            "“Prompt lookup” wins where the answer repeats the prompt: a list, a quotation.",
            RACE,
        ),
        Task(
            "Set the temperature to 0 and check that **both texts are the same**, although at "
            "least one guess was rejected.",
            greedy and same and rejections > 0,
            f"{rejections} rejections; "
            + ("greedy" if greedy else "not greedy")
            + (", same text." if same and rounds else "."),
            "Temperature 0 stands at the left. Then press “Race my prompt”.",
            RACE,
        ),
        Task(
            "With the early exit, find the number of layers from which **more than half of the "
            "guesses** are accepted. Does it pay there?",
            accepted > 0.5 and bool(rounds) and summed is not None and summed.draft_cost > 0.02,
            f"{percent(accepted)} accepted in the last race.",
            "The button “Draft” has the number of layers. Begin with two thirds of them.",
            RACE,
        ),
    ]
