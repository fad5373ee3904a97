"""Generation page, In depth and Try this: the loop with this answer's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.generation.surprise import bits_of
from components.kit.layout import formulas
from components.kit.numbers import percent, size
from components.kit.tasks import Task
from components.kit.text import counted, markdown, visible

if TYPE_CHECKING:
    from engine.generation.branches import Written
    from engine.kv_cache.sizes import CacheSize

Answer = tuple["Written", ...]


def show(cache: CacheSize, prompt_tokens: int, answer: Answer) -> None:
    """Write the page.

    Args:
        cache: what the running model keeps for a token.
        prompt_tokens: how many tokens the prompt has.
        answer: the tokens that are shown on the page, perhaps none.
    """
    st.markdown("#### The loop")
    formulas(
        r"x_{t+1} \sim \mathrm{chain}\big(\mathrm{logits}(x_1, \dots, x_t)\big)",
        r"P(\text{answer} \mid \text{prompt}) = \prod_t p(x_{t+1} \mid x_1, \dots, x_t)",
    )
    if answer:
        _this_answer(answer)
    else:
        st.markdown("Open “Visual”, which writes an answer, and its numbers stand here.")
    _cache(cache, prompt_tokens, len(answer))
    st.markdown("#### What large models do differently")
    st.markdown(
        "- Servers run many answers in one pass (continuous batching): reading the weights is what "
        "costs time, and one reading then serves all. Here too, with a model of the Llama kind: "
        "whoever writes on this server joins the next pass, and nobody’s tokens depend on it.\n"
        "- The KV cache of a long conversation takes gigabytes, so it is paged, shared between "
        "answers with the same beginning (prefix caching), and kept in 8 bits or fewer.\n"
        "- Prefill of a long prompt is cut into parts, so that other answers don't stand still.\n"
        "- A client gets server-sent events, often several tokens in one."
    )
    st.markdown("#### What this view does not show")
    st.markdown(
        "- The colour is the probability of a token, not of a fact: a wrong answer can be blue "
        "throughout.\n"
        "- The product above is that of the model's own distribution. What was drawn from is the "
        "distribution after the settings, in which the same text has another probability.\n"
        "- Branches show what the model would have said, not what it considered: it makes no plan "
        "that could be read here."
    )


def _this_answer(answer: Answer) -> None:
    bits = bits_of([part.step for part in answer])
    shown = answer[:3]
    factors = r" \cdot ".join(f"{part.step.raw_probability:.3f}" for part in shown)
    dots = r" \cdots" if len(answer) > len(shown) else ""
    formulas(
        rf"P = {factors}{dots} = 2^{{-{sum(bits):.1f}}}",
        rf"\text{{{sum(bits):.1f} bits over {counted(len(answer), 'token')}: "
        rf"{sum(bits) / len(answer):.2f} per token}}",
    )
    least = min(answer, key=lambda part: part.step.raw_probability)
    st.markdown(
        f"The least probable token is number {least.step.index + 1}, "
        f"{markdown(visible(least.step.data))}, with {percent(least.step.raw_probability)}. "
        f"Perplexity, 2 to the bits per token: {2 ** (sum(bits) / len(bits)):.2f}."
    )


def _cache(cache: CacheSize, prompt_tokens: int, written: int) -> None:
    """Say what the KV cache keeps for one token and for this text."""
    layers, groups, width = cache.layers, cache.kv_heads, cache.head_size
    one, each = cache.per_token, cache.bytes_per_number
    read = prompt_tokens + max(written - 1, 0)
    st.markdown("#### What the KV cache keeps")
    st.latex(
        rf"2 \cdot L \cdot G \cdot K \cdot {each} = 2 \cdot {layers} \cdot {groups} \cdot {width} "
        rf"\cdot {each} = {one:,}".replace(",", "{,}")
        + r"\ \text{bytes per token}"
    )
    st.markdown(
        f"- A key and a value [G, K] = [{groups}, {width}] in each of {layers} layers, in "
        f"{cache.dtype}. {counted(read, 'token')} read so far: {size(one * read)}.\n"
        f"- **Prefill** reads the prompt's {counted(prompt_tokens, 'token')} in one pass "
        "[T, D]; **decode** then reads one token per pass [1, D] and attends to what is kept.\n"
        "- The cache is allowed because of the causal mask: no token ever reads a later one, so "
        "keys and values of old tokens stay what they were, whatever is written next.\n"
        "- With the cache a step costs O(1) in the matrices, which read one token, and O(n) in "
        "attention, whose one row of scores is as long as the text. Without the cache the matrices "
        "read t tokens at step t: their work grows with the square of the length instead of in "
        "proportion. Attention's scores grow with the square even with the cache, and with the "
        "cube without it. “Cost of each step” draws this.\n"
        "- The last token that was written is not in the cache: it is read when the next one is "
        "wanted."
    )


def tasks(answers: Sequence[Answer]) -> list[Task]:
    """Return what to try: the task, whether one of the answers meets it, and where it stands."""
    reasons = [answer[-1].step.stop_reason for answer in answers if answer]
    forced = [part.step for answer in answers for part in answer if part.step.forced]
    rarest = min((step.raw_probability for step in forced), default=None)
    said = ", ".join(dict.fromkeys(str(reason or "stopped by you") for reason in reasons))
    return [
        Task(
            "Get an answer that **the model itself ends**, with its end token. (It learned to do "
            "so in chats.)",
            "end token" in reasons,
            f"Ends so far: {said or 'none'}.",
            "Send a short question as a chat turn, and give it 60 tokens or more.",
        ),
        Task(
            "End an answer with a **stop string**, and see what was cut.",
            "stop string" in reasons,
            f"Ends so far: {said or 'none'}.",
            "Choose a word or sign of the answer, such as a comma, and write another one.",
        ),
        Task(
            "Take a token that the model gave **less than 2 %** instead, and watch where the text "
            "goes from there.",
            rarest is not None and rarest < 0.02,
            "No token was taken by hand yet."
            if rarest is None
            else f"The least probable one that you took had {percent(rarest)}.",
            "Click a token of the answer and take one from the end of its list.",
        ),
    ]
