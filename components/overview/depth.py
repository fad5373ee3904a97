"""In depth on the whole pipeline: one turn of the loop as formulas, with this prompt's sizes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from components.kit.layout import formulas
from components.kit.numbers import percent, size
from components.kit.text import counted, markdown, visible

if TYPE_CHECKING:
    from engine.overview.facts import Overview


def in_depth_words(overview: Overview) -> None:
    """Write the loop, the shapes and what the picture leaves out, with this text's numbers."""
    best = overview.candidates[0]
    name = markdown(visible(bytes.fromhex(best.data), limit=20))
    st.markdown(
        "**One turn of the loop.** The model is a function from all tokens so far to one "
        "probability for each token of the vocabulary. One is drawn and appended, and the function "
        "is asked again:"
    )
    formulas(
        r"p(x_{t+1} \mid x_1, \dots, x_t) = \mathrm{softmax}(\ell_t)",
        r"p(x_1, \dots, x_n) = \prod_{t=0}^{n-1} p(x_{t+1} \mid x_1, \dots, x_t)",
    )
    st.markdown(
        f"Here t = {len(overview.tokens)}, and the likeliest next token is {name} with "
        f"{percent(best.probability)}. A text of several tokens has the product of their "
        "probabilities, so even likely texts are rare: no whole answer is stored or looked up."
    )
    st.dataframe(_shapes(overview), hide_index=True, width="stretch")
    _prefill(overview)
    st.markdown(
        "**Norm before or after.** The diagram that most textbooks print (2017) adds first and "
        "norms the sum. Nearly all of today’s models norm a copy before each part and add the "
        "result to the untouched vector, which lets very deep models be trained."
    )
    st.markdown(
        "**What the picture does not show.** It has one head of "
        f"{overview.architecture.layers * overview.architecture.heads:,}, one token’s vector and "
        "five scores. The head was chosen because the answer misses it most among a few; that is a "
        "measurement on this text and no explanation. What a layer “would say” is read with a "
        "matrix that only the last layer was trained for. And a probability says how often the "
        "model would go on like this, not whether it is true."
    )


def _shapes(overview: Overview) -> pd.DataFrame:
    """Return what goes from stage to stage, with its shape."""
    shape, count = overview.architecture, len(overview.tokens)
    characters = len(overview.text) + len(overview.generated)
    rows = [
        ("Text", counted(characters, "character"), "the prompt"),
        ("Tokens", f"[{count}]", "whole numbers, one per piece"),
        ("Vectors", f"[{count}, {shape.width}]", "the residual stream, the same shape all along"),
        (
            "Queries; keys and values",
            f"[{shape.heads}, {count}, {shape.head_size}]; "
            f"[{shape.kv_heads}, {count}, {shape.head_size}]",
            "in each layer",
        ),
        ("Attention", f"[{shape.heads}, {count}, {count}]", "in each layer"),
        ("Neurons", f"[{count}, {shape.ff_width}]", "in each layer"),
        ("Logits", f"[{shape.vocabulary:,}]", "after the last token only"),
        ("Next token", "[1]", "one whole number"),
    ]
    return pd.DataFrame(rows, columns=["What", "Shape", "Note"])


def _prefill(overview: Overview) -> None:
    """Write what the first pass and the later ones cost."""
    count, prompt = len(overview.tokens), overview.prompt_tokens
    per_token = overview.cache.bytes // max(overview.cache.rows, 1)
    pairs = math.comb(prompt, 2) + prompt
    st.markdown(
        f"**Prefill and decode.** The prompt’s {counted(prompt, 'token')} go through in one pass, "
        f"side by side, and each reads itself and those before it ({counted(pairs, 'pair')} per "
        "head). From then on each new token goes through alone: it reads the keys and values that "
        f"were kept, {size(per_token)} per token, {size(overview.cache.bytes)} now for "
        f"{counted(count, 'token')}. Keeping them is allowed because no token sees a later one, so "
        "what earlier tokens left never changes."
    )
