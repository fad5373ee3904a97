"""In depth on sampling: the formulas with this prompt's numbers, and what real products do."""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.kit.model_words import VOCABULARIES
from components.kit.numbers import percent
from components.kit.text import markdown
from engine.basics.distribution import largest
from engine.sampling.chain import LLAMA_CPP_ORDER, SamplingSettings, Stage, run_chain

EXAMPLE = (3.0, 2.0, 1.0)


def in_depth_words(
    stages: list[Stage], settings: SamplingSettings, u: float, picked: int, name: str
) -> None:
    """Write the formulas with the numbers of this draw."""
    first, last = stages[0], stages[-1]
    logits = first.logits[largest(first.logits, 2)]
    gap = float(logits[0] - logits[1])
    st.markdown(
        "**Temperature** divides every logit by T before the softmax, so the ratio of two "
        "probabilities is raised to the power 1/T. The two largest logits here are "
        f"{logits[0]:.2f} and {logits[1]:.2f}: they lie {gap:.2f} apart, so their odds are"
    )
    st.latex(
        rf"\frac{{p_1}}{{p_2}} = e^{{{gap:.2f}/T}}: \quad T=1:\; {np.exp(gap):.3g}, \quad "
        rf"T=0.5:\; {np.exp(2 * gap):.3g}, \quad T=2:\; {np.exp(gap / 2):.3g}"
    )
    st.markdown(
        "**Top-k** keeps a fixed number, **top-p** a fixed mass, **min-p** a fixed share of the "
        "top probability, **typical** the tokens that surprise about as much as the average one. "
        "What is cut out gets the score −∞, which softmax turns into 0 %. The others then share "
        "the whole 100 %."
    )
    st.markdown(
        f"**Draw.** One random number u in [0, 1) is looked up on the line of all shares. Here "
        f"u = {u:.4f} and {markdown(name)} is drawn, whose share is "
        f"{percent(float(last.probabilities[picked]))}. Over this vocabulary of "
        f"{len(first.logits):,} tokens {last.drawable:,} can be drawn."
    )
    _penalty_words()
    _order_example()
    _what_products_do()
    st.markdown(
        "**What this page does not show.** A probability says how often the model would go on "
        "like this, and not whether it is true. Sampling changes no knowledge: no setting here "
        "puts a right answer where the model has none. DRY, XTC and mirostat are left out."
    )


def example_result(order: tuple[str, ...] | None = None) -> list[int]:
    """Return which of the logits [3, 2, 1] T = 0.5 and top-p 0.8 keep."""
    settings = SamplingSettings(temperature=0.5, top_p=0.8)
    if order is not None:
        settings = SamplingSettings(temperature=0.5, top_p=0.8, order=order)
    return [int(i) for i in np.flatnonzero(run_chain(EXAMPLE, settings)[-1].kept)]


def _penalty_words() -> None:
    """Say in which order bias and penalties come, and at which tokens they look."""
    st.markdown(
        "**Bias and penalties** come first, in this order, in transformers as in llama.cpp: the "
        "bias is added, then the repetition penalty divides what was seen (a logit below 0 it "
        "multiplies), then presence and frequency are subtracted. The repetition penalty looks at "
        "prompt and answer (Keskar et al. 2019). Presence and frequency count the answer alone in "
        "OpenAI's API and in vLLM; llama.cpp counts the last n tokens of both, and the card has "
        "either. In a chat the prompt also holds the template's own tokens, and the end token is "
        "one of them: a penalty on the prompt makes it less likely too."
    )


def _order_example() -> None:
    """Show that the order of two steps decides who survives."""

    def names(kept: list[int]) -> str:
        return ", ".join(f"{EXAMPLE[i]:g}" for i in kept)

    st.markdown(
        "**The order matters.** Logits 3, 2, 1 with T = 0.5 and top-p 0.8: transformers divides "
        "first, which makes the shares 87 %, 12 %, 2 %, so the first alone reaches 0.8 and only "
        f"**{names(example_result())}** stays. llama.cpp cuts first, on 67 %, 24 %, 9 %, and needs "
        f"two: **{names(example_result(LLAMA_CPP_ORDER))}** stay."
    )


def _what_products_do() -> None:
    st.markdown(
        "**What is usual.** Many things are on by default without being asked for:\n"
        "- transformers: `generate` is greedy until `do_sample=True`; then top-k is **50** unless "
        "the model's own file says otherwise, with temperature 1 and top-p 1;\n"
        "- llama.cpp: top-k 40, top-p 0.95, min-p 0.05, temperature 0.8, penalty window 64 with "
        "the penalty itself off;\n"
        "- OpenAI's API: temperature 1, top-p 1, penalties 0, and no top-k. Anthropic's and "
        "Google's take top-k too, and what they start with depends on the model. Several models "
        "that reason before they answer take no such settings at all. (As of November 2026; such "
        "defaults change, so look them up.)\n\n"
        f"Large models have {VOCABULARIES} tokens to choose from; the steps are the same."
    )
