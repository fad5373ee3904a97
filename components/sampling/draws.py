"""One draw and a thousand: counts against what the distribution says, with a test of the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from components.kit.bars import bars
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import markdown

if TYPE_CHECKING:
    from engine.basics.statistics import ChiSquare


def counts_chart(
    ids: Sequence[int],
    pieces: Sequence[bytes],
    observed: Sequence[int],
    expected: Sequence[float],
    draws: int,
) -> None:
    """Draw how often each token came, with what was to be expected as an outline.

    Args:
        ids: the tokens with a group of their own; -1 is all others together.
        pieces: their bytes.
        observed: how often each came.
        expected: how often the distribution says, on average.
        draws: how many draws there were.
    """
    far = max(abs(o - e) for o, e in zip(observed, expected, strict=True))
    chart(
        bars(
            ids,
            pieces,
            np.asarray(observed) / draws,
            before=np.asarray(expected) / draws,
            title=f"{draws:,} draws: no token is more than {far:.0f} off what was expected",
            key="draws",
            value_name="share of the draws",
            legend=("drawn", "expected"),
        ),
        key="draws",
        alt="How often each token was drawn, beside what its probability says",
    )


def explain_test(test: ChiSquare, draws: int) -> None:
    """Say what the chi-square test finds, in words that a class can read."""
    if test.degrees == 0:
        st.markdown("Only one token can be drawn, so there is nothing to test.")
        return
    share = test.p_value
    verdict = (
        "So yes, this looks fair."
        if share > 0.01
        else "That is rare: try other seeds, and about one in a hundred will do the same."
    )
    st.markdown(
        f"**Are the dice fair?** If these {draws:,} draws were repeated many times with fair dice, "
        f"{percent(share)} of the tries would be at least this far off. {verdict} (Test: χ² = "
        f"{test.statistic:.1f} with {test.degrees + 1} rows.)"
    )


def same_seed(seed: int, u: float, name: str, others: Sequence[tuple[int, str]]) -> None:
    """Say which token this seed and the next ones draw from the same distribution.

    Args:
        seed: of the page.
        u: its first random number.
        name: the token that it draws, visible.
        others: further seeds and their tokens.
    """
    more = ", ".join(f"{number} → {markdown(token)}" for number, token in others)
    st.markdown(
        f"Seed **{seed}** always gives u = {u:.4f}, and so **{markdown(name)}**. Other seeds: "
        f"{more}."
    )
