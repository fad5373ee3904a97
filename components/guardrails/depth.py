"""In depth on guardrails: what each guard computes, with this scenario's numbers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.kit.text import counted, markdown


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
        "**A ban on sequences** looks at the last characters that were written. If they are the "
        "first k of the word, every token that begins with the rest of it is removed. It needs the "
        "text so far at each step, and it stops this run of letters alone: other words with the "
        "same meaning pass, and so does “m-u-s-e-u-m”. Upper and lower case are compared in the "
        "joined text, since one token may hold half of a letter."
    )
    st.markdown(
        "**A format** is a grammar, compiled into an automaton over bytes. Its state after the "
        "text so far says which tokens may follow. Every finished result parses; one that the "
        "token budget cuts does not. A made-up date parses as well as a true one."
    )
    st.markdown(
        f"**The system turn** is text like any other: here {rule_tokens} more tokens before the "
        f"{prompt_tokens} that are there. What makes a model prefer it over the user's turn is "
        "training on examples, and a model this small follows it loosely: the counts show how "
        "loosely. The turn's borders are control tokens. A user can type their names, but they "
        "become control tokens only if the application lets them; one that does gives this away."
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
        "**What counts as a leak.** An answer in which a person can read the word: its letters "
        "together in one word, spelled out one by one, or joined by hyphens. The second count, "
        "“told in other words”, looks for the words of a list that somebody wrote. It misses what "
        "nobody thought of, and it counts “not a dog” as well."
    )
    st.markdown(
        "**What this page does not show.** The counts hold for this scenario, this small model and "
        "these wordings. A guard with 0 leaks here was not attacked by anybody who had an hour."
    )


def pieces_line(names: Sequence[str], total: int) -> str:
    """Return a line with some of the tokens that may come next."""
    shown = ", ".join(markdown(name) for name in names)
    rest = f" … and {total - len(names):,} more" if total > len(names) else ""
    return f"{counted(total, 'token')} may come next: {shown}{rest}"
