"""The logit bias, picked by word: which tokens a text has, with and without a space before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import counted, markdown
from components.link import check, keys
from components.link.sampling import BIAS_HIGH, BIAS_LOW, bias_field, format_bias, parse_bias

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Token

WORD, SIZE = "bias_word", "bias_size"


def bias_picker(
    bias: Sequence[tuple[int, float]],
    tokens_of: Callable[[str], Sequence[Token]],
    name_of: Callable[[int], str],
) -> None:
    """Draw the button that opens the picker, and the biases that are set.

    Args:
        bias: what is set, as pairs.
        tokens_of: cuts a text into tokens.
        name_of: gives a token's visible text.
    """
    with st.popover(f"{len(bias)} set" if bias else "Pick tokens", icon=":material/tune:"):
        st.text_input(
            "A word", key=WORD, placeholder="Paris", help="The model's own pieces are listed."
        )
        st.slider("Bias", BIAS_LOW, BIAS_HIGH, 5.0, 0.5, key=SIZE)
        word = st.session_state.get(WORD) or ""
        if word:
            _readings(word, tokens_of, name_of)
        for token_id, value in bias:
            st.button(
                f"{markdown(name_of(token_id))} {value:+g}",
                key=f"unbias_{token_id}",
                icon=":material/close:",
                on_click=_set,
                args=(token_id, None),
            )
        bias_field()
        problem = parse_bias(check.text(keys.LOGIT_BIAS))[1]
        if problem:
            st.error(markdown(problem))


def _readings(
    word: str, tokens_of: Callable[[str], Sequence[Token]], name_of: Callable[[int], str]
) -> None:
    """Offer the tokens of a word as it stands in a sentence (after a space) and at its start."""
    bare = word.lstrip(" ")
    readings = (("After a space", "after", f" {bare}"), ("At the start", "start", bare))
    for place, key, text in readings:
        tokens = tokens_of(text)
        st.caption(f"{place}: {counted(len(tokens), 'token')}")
        if len(tokens) > 1:
            st.caption(
                "A bias works on one token: raising the first piece also raises every other word "
                "that begins with it."
            )
        with st.container(horizontal=True, gap="xsmall"):
            for index, token in enumerate(tokens[:6]):
                st.button(
                    f"{markdown(name_of(token.id))} ({token.id})",
                    key=f"bias_{key}_{index}_{token.id}",
                    icon=":material/add:",
                    on_click=_set,
                    args=(token.id, "size"),
                )


def _set(token_id: int, source: str | None) -> None:
    """Set a token's bias to the slider's value, or take it away."""
    pairs = dict(parse_bias(check.text(keys.LOGIT_BIAS))[0])
    if source is None:
        pairs.pop(token_id, None)
    else:
        pairs[token_id] = float(st.session_state[SIZE])
    st.session_state[keys.LOGIT_BIAS] = format_bias(tuple(pairs.items()))
