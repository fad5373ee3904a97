"""In depth on training: the formulas, what the demonstrations are and what they are not."""

from __future__ import annotations

import math
from collections.abc import Mapping

import streamlit as st

from components.kit.numbers import size

SENTENCE = ("The capital of Australia is", "Canberra.")

RATE = 3e-5
"""The learning rate that both lessons start with."""

PAIR = ("Say hello to me.", "Good day to you.", "Hello! How can I help you today?")
"""A prompt, the answer to prefer, and the other one."""

FACTS: tuple[tuple[str, str], ...] = (
    ("Canberra is the capital of", " Australia"),
    ("The capital of France is", " Paris"),
    ("The capital of Canada is", " Ottawa"),
    ("The largest city in Australia is", " Sydney"),
    ("The chemical symbol for gold is", " Au"),
    ("Water is made of hydrogen and", " oxygen"),
)

CAPTIONS: Mapping[str, str] = {
    "loss": (
        "A real model saw trillions of tokens like this, each once or a few times, and was asked "
        "nothing but the next one."
    ),
    "learn": (
        "A real training step averages over thousands of texts, so that no single sentence pulls "
        "so hard. Here one sentence pulls alone, on a private copy of the last two layers; the "
        "shared model is not touched, and Forget throws the copy's results away."
    ),
    "preference": (
        "Real preference tuning uses many thousands of pairs, or a reward model trained on them, "
        "and comes after pre-training and instruction tuning. This is one pair."
    ),
    "tiny": (
        "It learns a few rhymes by heart, letter by letter, in the same way as a real model. What "
        "comes out is nothing like one: a real one has over a thousand times its weights and saw "
        "a billion times its text."
    ),
}


def in_depth_words(*, trained: int, total: int, taken: int, mean_nats: float) -> None:
    """Write the formulas with the numbers of this model and text."""
    st.markdown("**The loss** of a text is the mean surprise of its tokens, and nothing else:")
    st.latex(
        r"L = -\frac{1}{T-1}\sum_{t=2}^{T} \ln p(x_t \mid x_1 \dots x_{t-1}) = "
        rf"{mean_nats:.3f}"
    )
    st.latex(rf"\text{{perplexity}} = e^L = {math.exp(mean_nats):.1f}")
    st.markdown(
        "**One step** of AdamW keeps two running averages for every weight, of its gradient g and "
        "of g², and moves the weight by their ratio. So each weight moves by at most about the "
        "learning rate η, whatever the size of its gradient, and by less where the gradients of "
        "the steps disagree:"
    )
    st.latex(
        r"w \leftarrow w - \eta\left(\frac{\hat m}{\sqrt{\hat v} + \epsilon} + \lambda w\right)"
    )
    st.markdown(
        f"Here {trained:,} of {total:,} parameters learn: the last two layers and the final norm. "
        f"With gradients and averages that is {size(taken)} for one session, one session at a "
        "time. The layers before are run once, and their result is kept."
    )
    st.markdown("**A preference** (DPO) compares how far two answers have moved from the start:")
    st.latex(
        r"L = -\ln \sigma\left(\beta\left[\ln\tfrac{\pi(c)}{\pi_0(c)} - "
        r"\ln\tfrac{\pi(r)}{\pi_0(r)}\right]\right)"
    )
    st.markdown(
        "RLHF trains a reward model on such pairs and then the language model against it, with a "
        "penalty on the KL distance from the start; in theory DPO reaches the same optimum "
        "without the reward model. β is that penalty's weight."
    )
    _around()


def _around() -> None:
    """Write what real training is, and what the page leaves out."""
    st.markdown(
        "**What real training has.** *Pre-training*: trillions of tokens, thousands of processors "
        "for weeks, a learning rate that warms up and decays, batches of millions of tokens. "
        "*Instruction tuning*: ten thousand to millions of written dialogues, the same loss on "
        "the answers alone. *Preference tuning*: pairs of answers, or a reward for checked "
        "results. Temperature and the other sampling settings come after all this and can't put "
        "in what is not there."
    )
    st.markdown(
        "**What this page does not show.** Data cleaning, batching over many devices, held-out "
        "tests, and forgetting at scale. A loss says how well a text is predicted; a false "
        "sentence can be learned as easily as a true one. Try it."
    )
