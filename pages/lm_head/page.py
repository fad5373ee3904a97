"""LM head: how a vector becomes a score for every token."""

from __future__ import annotations

import streamlit as st

from components.kit.layout import side_by_side
from components.kit.show import chart
from components.kit.text import counted, visible
from components.link import keys, widgets
from components.lm_head import scores as view
from components.lm_head.depth import in_depth_words
from engine.basics import distribution
from pages.frame import frame, results
from pages.lm_head import guess, tasks, views

live = frame.live_prompt()
tokenizer = live.model.tokenizer
scores = results.scores(live.model.source, live.ids)
logits, probabilities, best = scores.logits, scores.probabilities, scores.best


def name_of(token_id: int) -> str:
    """Return a token's text with everything made visible."""
    return visible(tokenizer.bytes_of(token_id), limit=20)


def selected() -> int:
    """Return the token whose score is spelled out: the chosen one, or else the likeliest."""
    chosen = widgets.number(keys.LM_HEAD_TOKEN, "The token to spell out", len(logits) - 1)
    if chosen is None:
        return int(best.ids[0])
    widgets.write(keys.LM_HEAD_TOKEN, chosen)
    return chosen


def top_scores() -> None:
    """Draw the top tokens and one score as a sum."""
    chosen = selected()
    terms = results.logit_terms(live.model.source, live.ids, chosen)
    rank = distribution.rank_of(logits, chosen)
    if rank > 1:
        view.rank_words(terms, name_of(chosen), rank, float(probabilities[chosen]))
    with st.container(key="main_picture"):
        view.top_bars(best, [tokenizer.bytes_of(int(i)) for i in best.ids], chosen)
    if rank == 1:
        view.rank_words(terms, name_of(chosen), rank, float(probabilities[chosen]))
    view.sum_words(terms, name_of(chosen))


def everything() -> None:
    """Draw all scores at once."""
    mass = distribution.mass_by_rank(probabilities)
    half, most = (distribution.tokens_for_mass(mass, share) for share in (0.5, 0.9))
    choices = distribution.effective_choices(scores.entropy_bits)
    left, right = side_by_side(1, 1)
    first = int(best.ids[0])
    marks = [(name_of(first), float(logits[first]))]
    if selected() != first:
        marks.append((name_of(selected()), float(logits[selected()])))
    title = f"{len(logits):,} scores; the best is {_lead():.1f} standard deviations above the mean"
    with left, st.container(key="main_picture"):
        counts = distribution.histogram(logits)
        figure = view.logit_histogram(counts, marks, title=title, key="histogram")
        chart(figure, key="histogram", alt="How many tokens have which logit")
    with right:
        title = f"Half of the probability is in {counted(half, 'token')}"
        figure = view.mass_curve(
            mass, title=title, key="mass", marks=[(most, float(mass[most - 1]))]
        )
        chart(figure, key="mass", alt="Probability that the likeliest tokens hold together")
    view.entropy_words(scores.entropy_bits, choices, len(logits))


def _lead() -> float:
    return float((logits.max() - logits.mean()) / max(float(logits.std()), 1e-9))


def softmax_view() -> None:
    """Show what the softmax makes of the scores, and its four steps below."""
    ids = [int(i) for i in best.ids[:10]]
    steps = distribution.softmax_steps(logits, best.ids[:10])
    names = [name_of(token_id) for token_id in ids]
    with st.container(key="main_picture"):
        view.softmax_bars(steps, ids, [tokenizer.bytes_of(i) for i in ids], len(logits))
    view.softmax_words(steps, names)
    view.why_subtract(steps)
    with st.expander("The numbers, step by step"):
        view.softmax_table(steps, names)


def visual() -> None:
    """Draw the chosen view."""
    with st.container(horizontal=True, key="lm_head_controls"):
        chosen = widgets.choice(
            "View", views.PARTS, key=keys.LM_HEAD_PART, label_visibility="collapsed"
        )
        if chosen == views.PARTS[0]:
            view.look_up(tokenizer.encode, probabilities, name_of)
        elif chosen == views.PARTS[3]:
            second = views.second_prompt(live)
        elif chosen == views.PARTS[5]:
            fact = views.fact_to_ask(live)
    if chosen == views.PARTS[1]:
        everything()
    elif chosen == views.PARTS[2]:
        softmax_view()
    elif chosen == views.PARTS[3]:
        views.two_prompts(live, second, logits, name_of)
    elif chosen == views.PARTS[4]:
        views.no_answer(live, logits, name_of)
    elif chosen == views.PARTS[5]:
        views.ways_to_ask(live, fact)
    else:
        top_scores()


def in_depth() -> None:
    """Write the formula with this prompt's numbers."""
    terms = results.logit_terms(live.model.source, live.ids, int(best.ids[0]))
    in_depth_words(live.model.architecture, terms, name_of(terms.token_id), scores.entropy_bits)


frame.views(visual, in_depth, lambda: tasks.found(live, selected()), lambda: guess.ask(live))
