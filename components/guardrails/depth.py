"""In depth on guardrails: what each guard computes, with this scenario's numbers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.kit.text import markdown


def in_depth_words(
    *, word: str, banned: int, spellings: int, vocabulary: int, prompt_tokens: int, rule_tokens: int
) -> None:
    """Write the formulas with the numbers of this scenario."""
    st.markdown(
        "**A guard on the logits** adds −∞ to every token outside the allowed set A before the "
        "softmax, and the rest is scaled up to 1 again:"
    )
    st.latex(r"p'_i = \frac{[i \in A]\,e^{x_i}}{\sum_{j \in A} e^{x_j}}")
    st.markdown(
        f"For {markdown(word)} the token ban takes {banned} of {vocabulary:,} ids away. The other "
        f"{spellings - banned} of {spellings} spellings tried have several tokens, and each of "
        "those serves other words as well. The probability of the banned ids goes to the rest in "
        "proportion, so the next best way to say the same moves up: often the same word in other "
        "pieces."
    )
    st.markdown(
        "**A ban on sequences** looks at the last bytes that were written. If they are the first k "
        "bytes of the word, every token that begins with the rest of it is removed. It needs the "
        "text so far at each step, and holds for spelling only: a synonym passes."
    )
    st.markdown(
        "**A format** is a grammar, compiled into an automaton over bytes. Its state after the "
        "text so far says which tokens may follow. The result always parses. A made-up date "
        "parses as well as a true one."
    )
    st.markdown(
        f"**The system turn** is text like any other: here {rule_tokens} more tokens before the "
        f"{prompt_tokens} that are there. What makes a model prefer it over the user's turn is "
        "training on examples, and this model had few of them. That the turn's borders are control "
        "tokens, which a user can't type, is what keeps a user from writing a system turn of their "
        "own; an application that reads user text as control tokens gives this away."
    )
    _around()


def _around() -> None:
    """Write what real products do, and what the page leaves out."""
    st.markdown(
        "**What products do.** Large services stack these: a classifier model on the prompt, a "
        "long system turn, training on refusals, masks for structured output, and a second "
        "classifier on the stream, which may fire after the first sentences are on the screen. "
        "Each layer has its rate of wrong refusals, and they add up."
    )
    st.markdown(
        "**What this page does not show.** The counts hold for this scenario, this small model and "
        "these wordings. A guard with 0 leaks here was not attacked by anybody who had an hour."
    )


def pieces_line(names: Sequence[str], total: int) -> str:
    """Return a line with some of the tokens that may come next."""
    shown = ", ".join(markdown(name) for name in names)
    rest = f" … and {total - len(names):,} more" if total > len(names) else ""
    return f"{total:,} tokens may come next: {shown}{rest}"
