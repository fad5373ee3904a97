"""Ten texts of one vector: what the list of them shows, in words."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.sampling.chain import SamplingSettings


def title(texts: Sequence[tuple[int, ...]]) -> str:
    """Say how many different texts there are, and how many different first tokens.

    Args:
        texts: the ids of each.
    """
    different = len(set(texts))
    if different == 1:
        return f"**{len(texts)} seeds, one text**: here every seed draws the same tokens"
    first = len({text[0] for text in texts if text})
    begun = "all begin with the same token" if first == 1 else f"{first} different first tokens"
    return f"**{len(texts)} seeds, {different} different texts**: {begun}"


def words(vocabulary: int, settings: SamplingSettings, seed: int) -> None:
    """Say what the texts have in common, and which settings and random numbers drew them.

    Args:
        vocabulary: how many scores the model gave.
        settings: with which every text was drawn.
        seed: of the first text.
    """
    st.markdown(
        f"**No answer lies inside the model.** It gave {vocabulary:,} scores for the next token, "
        "once, and all of these texts began from those same scores. The framed token was drawn "
        "first, with the seed's first random number u; the rest of the text follows from it."
    )
    how = (
        "at temperature 0, where the likeliest token is always taken and no seed changes anything"
        if settings.greedy
        else f"at temperature {settings.temperature:g}, with the other settings of the sidebar"
    )
    st.caption(
        f"Drawn {how}. Seed {seed} is the one of the sidebar, so its text begins with the token "
        "that the overview and the sampling page draw. The percentage is how probable the framed "
        "token was under these settings."
    )
