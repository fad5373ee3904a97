"""Tokenizer page, In depth: the rule with this prompt's numbers, and what the view leaves out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.layout import formulas
from components.kit.model_words import VOCABULARIES
from components.kit.tasks import Task
from components.kit.text import counted
from components.link import keys
from components.tokenizer.card import Totals, groups

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Token


def show(totals: Totals, vocabulary: int, missing: int, digits: int) -> None:
    """Write the page.

    Args:
        totals: this prompt's counts.
        vocabulary: V, how many ids the model has.
        missing: how many of the 128 ASCII characters the vocabulary can't represent.
        digits: how many tokens the model takes for “123”.
    """
    bits = math.log2(vocabulary)
    st.markdown("#### The rule")
    formulas(
        r"\text{text} \xrightarrow{\text{UTF-8}} \text{bytes} \xrightarrow{\text{split}} "
        r"\text{pre-tokens}",
        r"\text{pre-tokens} \xrightarrow{\text{merge}} \text{tokens} \xrightarrow{\text{look up}} "
        rf"\text{{ids}} \in \{{0, \dots, {vocabulary - 1:,}\}}^{{{totals.tokens}}}".replace(
            ",", "{,}"
        ),
    )
    st.markdown(
        "Inside each pre-token the pair of neighbours that training merged earliest (the lowest "
        "rank) becomes one piece, again and again, until no known pair is left:"
    )
    st.latex(r"(a, b)^* = \arg\min_{(a,b)\ \text{neighbours}} \mathrm{rank}(a, b)")
    st.markdown("#### This prompt, as numbers")
    st.markdown(
        f"- {counted(totals.bytes, 'byte')}: {8 * totals.bytes:,} bits. "
        f"{counted(totals.tokens, 'token')} of log₂ {vocabulary:,} = {bits:.1f} bits each: "
        f"{totals.tokens * bits:,.0f} bits.\n"
        f"- Shapes: text of {counted(totals.characters, 'character')} → ids [T] = "
        f"[{totals.tokens:,}] → vectors [T, D] on the next page.\n"
        f"- The cost of a pass grows with T: fewer tokens for the same text mean less work and more"
        " text in the same context."
    )
    _differences(digits)
    _limits(missing)


def _differences(digits: int) -> None:
    st.markdown("#### What large models do differently")
    st.markdown(
        f"- Vocabularies hold {VOCABULARIES} tokens; a larger one gives shorter sequences "
        "and a larger first and last matrix.\n"
        f"- Some take each digit alone, others in groups of up to three: this one takes "
        f"{counted(digits, 'token')} for 123.\n"
        "- Those of Llama 2 and Mistral 7B start from characters (bytes only where a character is "
        "missing) and merge as well. Only the Unigram method (T5) chooses the most probable cut "
        "instead.\n"
        "- All of them are trained once, on a sample of text, before the model; then they stay."
    )


def _limits(missing: int) -> None:
    st.markdown("#### What this view does not show")
    st.markdown(
        "- Pieces come from counts of letters, not from grammar: a boundary says nothing about "
        "meaning.\n"
        "- The model never sees letters. What it knows of spelling it has learned from text.\n"
        "- A count of tokens is no measure of difficulty, only of length."
        + (
            f"\n- {missing} of the 128 ASCII characters, all of them control characters, have no "
            "symbol in this vocabulary and never reach the model; the page says so when a prompt "
            "holds one."
            if missing
            else ""
        )
    )


PIECES: Mapping[str, str] = {keys.TOKENIZER_PART: "How the pieces came to be"}
"""Where the page's tasks are done."""


def tasks(totals: Totals, tokens: Sequence[Token]) -> list[Task]:
    """Return what to try with the prompt: the task, whether it is met, and where it stands."""
    most = max((last - first for first, last in groups(tokens)), default=0)
    words = {token.data for token in tokens}
    pairs = sorted(word for word in words if word[:1].isalpha() and b" " + word in words)
    ratio = totals.characters_a_token
    return [
        Task(
            "Find one character that needs **three or more tokens**. Emoji and rare scripts are a "
            "good place to look.",
            most >= 3,
            f"The most that one character needs in your prompt: {most}.",
            "The vocabulary falls back to bytes where it has no piece. 𓀀 is four bytes long.",
            PIECES,
        ),
        Task(
            "Write the same word twice so that it gets **two different ids**, one with its leading "
            "space and one without.",
            bool(pairs),
            f"{counted(len(pairs), 'such word')} in your prompt.",
            "A text that begins with a word has it without the space. Write the word again later.",
            PIECES,
        ),
        Task(
            "Write at least 12 characters for which the model needs **a token for every 1.2 "
            "characters or fewer**. What do such texts have in common?",
            totals.characters >= 12 and 0 < ratio <= 1.2,
            f"{counted(totals.characters, 'character')}, {ratio:.2f} per token.",
            "Digits, random letters and rare scripts were seldom seen when the pieces were chosen.",
            PIECES,
        ),
    ]
