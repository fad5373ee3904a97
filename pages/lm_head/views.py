"""Further parts of the LM head's page: two prompts, ten texts of one vector, ways to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.layout import FULL
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import markdown
from components.kit.written import WrittenText, written_texts
from components.link import keys, widgets
from components.link.changes import change
from components.lm_head import compare, ten_texts, ways
from components.shell.example_prompts import CHAT_QUESTION
from engine.basics import distribution
from engine.sampling.chain import final_probabilities
from pages.frame import job, results
from pages.frame.kept import keep, kept
from pages.frame.loading import model_in_use
from pages.frame.shared import shared

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.generation.asking import Asked
    from engine.guardrails.batch import RowStep
    from pages.frame.live import Live

Names = Callable[[int], str]
PARTS = ("Top 20", "All scores", "Softmax", "Two prompts", "No answer inside", "Ways to ask")
"""The parts of the page, as they are chosen."""
RANKS = 10
SHIFTED = 8
"""Likeliest tokens of either prompt whose probability is followed to the other."""
SEEDS, TOKENS = 10, 12
TEXTS, TEXTS_KEPT = "ten_texts", 8


def second_prompt(live: Live) -> str:
    """Draw the box of the second prompt."""
    return widgets.text(
        "Second prompt",
        compare.second_prompt(live.request.prompt),
        key=keys.SECOND_PROMPT,
        label_visibility="collapsed",
        placeholder="A second prompt",
        width=330,
    )


def two_prompts(live: Live, second: str, logits: Array, name_of: Names) -> None:
    """Compare this prompt's distribution with a second one's."""
    _, other, problem = results.other_prompt(live.model.source, second)
    if other is None:
        st.warning(markdown(problem))
        return
    with st.container(key="main_picture"):
        tops = [distribution.top(values, RANKS) for values in (logits, other)]
        compare.side_by_side((live.request.prompt, second), tops, live.model.tokenizer.bytes_of)
    shares = [distribution.softmax(values) for values in (logits, other)]
    ids = dict.fromkeys(int(i) for best in tops for i in best.ids[:SHIFTED])
    shifts = [(i, float(shares[0][i]), float(shares[1][i])) for i in ids]
    figure = compare.shift_figure(shifts, name_of)
    alt = "How probable the likeliest tokens are after either prompt"
    chart(figure, key="shifts", alt=alt, room=FULL)
    forward, backward = distribution.kl_bits(logits, other), distribution.kl_bits(other, logits)
    compare.divergence_words(
        forward, backward, [results.bits(values) for values in (logits, other)]
    )


def no_answer(live: Live, logits: Array, name_of: Names) -> None:
    """Let ten seeds write from one and the same vector: the model gives scores and no answer."""
    seeds = range(live.seed, live.seed + SEEDS)
    shares = final_probabilities(logits, live.settings, live.ids, prompt_tokens=len(live.ids))
    numbers = [results.uniforms(seed, 1)[0] for seed in seeds]
    request = (live.model.source, live.ids, live.settings, live.seed)
    texts: list[list[RowStep]] | None = kept(TEXTS, request)
    with st.container(key="main_picture"):
        title, place = st.empty(), st.empty()

    def show(written: list[list[RowStep]]) -> None:
        rows = [
            WrittenText(
                f"seed {seed} · u = {u:.3f}"
                + (f" · {percent(float(shares[steps[0].id]))}" if steps else ""),
                [(step.id, step.data) for step in steps],
                _end(steps, name_of),
            )
            for seed, u, steps in zip(seeds, numbers, written, strict=True)
        ]
        place.html(written_texts(rows))

    if texts is None:
        title.markdown(f"**{SEEDS} seeds are writing {TOKENS} tokens each …**")
        texts = [[] for _ in seeds]
        show(texts)
        job.follow(_written_further(live, seeds, texts), show)
        keep(TEXTS, request, texts, most=TEXTS_KEPT)
    title.markdown(ten_texts.title([tuple(step.id for step in steps) for steps in texts]))
    show(texts)
    ten_texts.words(len(logits), live.settings, live.seed)
    if not (live.request.chat and live.request.prompt == CHAT_QUESTION.prompt):
        st.button(
            f"Ask a chat question instead: “{CHAT_QUESTION.prompt}”",
            key="ten_of_a_chat",
            icon=":material/forum:",
            on_click=change,
            args=(
                f"{CHAT_QUESTION.name}: ten seeds, and not all of them answer.",
                {keys.PROMPT: CHAT_QUESTION.prompt, keys.CHAT: True},
            ),
        )


def _written_further(
    live: Live, seeds: range, texts: list[list[RowStep]]
) -> Iterator[list[list[RowStep]]]:
    """Yield the texts again after every step, each with one token more."""
    from engine.guardrails.batch import write_rows

    for steps in write_rows(
        live.model, live.ids, live.settings, seeds=list(seeds), max_new_tokens=TOKENS
    ):
        for row, step in zip(texts, steps, strict=True):
            row.extend([step] if step is not None else [])
        yield texts


def _end(steps: list[RowStep], name_of: Names) -> str:
    """Return the end token's name if one ended the text."""
    return name_of(steps[-1].id) if steps and steps[-1].last and not steps[-1].data else ""


def fact_to_ask(live: Live) -> str:
    """Draw the choice of what is asked in several ways; a model without a chat has fewer."""
    has_chat = live.model.tokenizer.has_chat
    names = [
        name
        for name, parts in ways.FACTS.items()
        if has_chat or not any(chat for _, _, chat in parts)
    ]
    return widgets.choice(
        "What is asked",
        names,
        key=keys.FACT_ASKED,
        draw=st.selectbox,
        label_visibility="collapsed",
        width=230,
    )


def ways_to_ask(live: Live, fact: str) -> None:
    """Ask one fact in several ways, and draw what comes out of each."""
    with st.container(key="main_picture"):
        with st.spinner("Asking in every way …", show_time=True):
            found = _asked(live.model.source, fact)
        st.markdown(ways.title(found))
        st.html(ways.rows(found))
    ways.words(found)


@shared
def _asked(source: str, fact: str) -> tuple[Asked, ...]:
    """Return what came of each way; it depends on the model alone, so all sessions share it."""
    from engine.generation.asking import Way, ask

    parts = ways.FACTS[fact]
    return ask(model_in_use(source), [Way(text, answers, chat) for text, answers, chat in parts])
