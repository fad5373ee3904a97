"""In depth on the LM head: the formula with this prompt's numbers, the shapes, and the limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.kit.model_words import VOCABULARIES
from components.kit.text import markdown

if TYPE_CHECKING:
    from engine.lm_head.scores import LogitTerms
    from engine.network.architecture import Architecture


def in_depth_words(
    architecture: Architecture, terms: LogitTerms, name: str, entropy_bits: float
) -> None:
    """Write the view.

    Args:
        architecture: of the running model.
        terms: the score of the likeliest token.
        name: that token, visible.
        entropy_bits: of the whole distribution.
    """
    vocabulary, width = architecture.vocabulary, architecture.width
    st.latex(
        r"h = \mathrm{norm}(x_{\mathrm{last}}), \qquad \mathrm{logits} = W h, \qquad "
        r"p_i = \frac{e^{\mathrm{logit}_i}}{\sum_j e^{\mathrm{logit}_j}}"
    )
    st.markdown(
        f"**Shapes.** h has {width:,} numbers, W is {vocabulary:,} × {width:,} = "
        f"{vocabulary * width / 1e6:.1f} million, so there are {vocabulary:,} logits. "
        + (
            "In this model W is the embedding table itself (tied): the row that a token is read "
            "with is the row that it is scored with."
            if architecture.tied
            else "In this model W is a matrix of its own, apart from the embedding table."
        )
    )
    st.markdown(
        f"For {markdown(name)} the {width:,} products sum to **{terms.dot:.3f}**"
        + (f", plus a bias of {terms.bias:.3f} in it" if terms.bias else "")
        + f", and the model's own logit is **{terms.logit:.3f}**."
    )
    st.markdown(
        "**Entropy** is the average surprise, −Σ p log₂ p, over the whole vocabulary: here "
        f"{entropy_bits:.2f} bits. 2 to that power is the effective number of choices, "
        f"{2**entropy_bits:,.1f}: a fair die with so many sides is as uncertain."
    )
    st.markdown(
        f"**In large models** the vocabulary has {VOCABULARIES} rows and h 4,096 to 16,384 "
        "numbers, so W alone can be a billion numbers and more; then it is split over several "
        "machines. Some families bound the logits (Gemma 2: 30 · tanh(logit ÷ 30)) or untie W."
    )
    st.markdown(
        "**What this page does not show.** A logit means nothing alone: only differences count, "
        "since adding the same number to all of them changes no probability. And a probability "
        "says how often the model would go on like that, not whether it is true: a hint, and no "
        "proof."
    )
