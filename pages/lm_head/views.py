"""Further parts of the LM head's page: two prompts side by side, and draws from one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.show import chart
from components.kit.text import markdown
from components.link import keys, widgets
from components.lm_head import compare
from components.lm_head import scores as view
from components.sampling.draws import draws_table
from engine.basics import distribution
from engine.sampling.chain import draw
from pages.frame import results

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from pages.frame.live import Live

Names = Callable[[int], str]
RANKS = 10


@st.fragment
def two_prompts(live: Live, logits: Array, name_of: Names) -> None:
    """Compare this prompt's distribution with a second one's."""
    second = widgets.text("Second prompt", "The capital of France is", key=keys.SECOND_PROMPT)
    _, other, problem = results.other_prompt(live.model.source, second)
    if other is None:
        st.warning(markdown(problem))
        return
    tops = [distribution.top(values, RANKS) for values in (logits, other)]
    compare.side_by_side((live.request.prompt, second), tops, live.model.tokenizer.bytes_of)
    ids = dict.fromkeys(int(i) for best in tops for i in best.ids)
    ranks = [(i, distribution.rank_of(logits, i), distribution.rank_of(other, i)) for i in ids]
    figure = compare.rank_arrows(ranks, name_of, RANKS)
    chart(figure, key="ranks", alt="How the ranks of the likeliest tokens change")
    forward, backward = distribution.kl_bits(logits, other), distribution.kl_bits(other, logits)
    bits = [results.bits(values) for values in (logits, other)]
    compare.divergence_words(forward, backward, bits)


def no_answer(live: Live, logits: Array, probabilities: Array, name_of: Names) -> None:
    """Show that the model gives scores only: the same vector, drawn from with other seeds."""
    seeds = range(live.seed, live.seed + 10)
    numbers = [results.uniforms(seed, 1)[0] for seed in seeds]
    drawn = [draw(probabilities, number) for number in numbers]
    view.no_answer_words(len(set(drawn)), len(logits))
    shares = [float(probabilities[i]) for i in drawn]
    draws_table(seeds, numbers, [name_of(i) for i in drawn], shares)
