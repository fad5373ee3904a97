"""LM head: the scores of all tokens, one of them spelled out, and the softmax step by step.

The pictures of the whole distribution (`logit_histogram`, `mass_curve`) stand at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.arrays import Array
from components.kit.bars import bars, selected_token
from components.kit.figure import frame, packed, share_format
from components.kit.layout import side_by_side
from components.kit.numbers import percent
from components.kit.show import chart
from components.kit.text import markdown
from components.kit.text import plotly as escape
from components.link import keys

if TYPE_CHECKING:
    from engine.basics.distribution import Histogram, SoftmaxSteps, TopTokens
    from engine.lm_head.scores import LogitTerms
    from engine.tokenizer.tokenizer import Token

LOOK_UP = "lm_head_look_up"


def top_bars(best: TopTokens, pieces: Sequence[bytes], selected: int) -> None:
    """Draw the logits and the probabilities of the likeliest tokens; a click chooses one."""
    ids = [int(i) for i in best.ids]

    def choose(event: Any) -> None:
        token_id = selected_token(event, ids)
        if token_id is not None:
            st.session_state[keys.LM_HEAD_TOKEN] = token_id
            st.session_state[LOOK_UP] = ""

    gap = float(best.logits[0] - best.logits[1]) if len(ids) > 1 else 0.0
    left, right = side_by_side(1, 1)
    with left:
        title = f"Scores (logits): the best leads by {gap:.2f}"
        figure = bars(
            ids,
            pieces,
            best.logits,
            title=title,
            key="logits",
            percent=False,
            selected=selected,
            value_name="logit",
            height=590,
        )
        chart(figure, key="logits", alt=f"Logits of the top {len(ids)} tokens", on_select=choose)
    with right:
        mass = percent(float(best.probabilities.sum(dtype=np.float64)))
        title = f"Probabilities: these {len(ids)} hold {mass} of all"
        figure = bars(
            ids,
            pieces,
            best.probabilities,
            title=title,
            key="probabilities",
            selected=selected,
            height=590,
        )
        alt = f"Probabilities of the top {len(ids)} tokens"
        chart(figure, key="probabilities", alt=alt, on_select=choose)


def look_up(
    tokens_of: Callable[[str], Sequence[Token]], probabilities: Array, name_of: Callable[[int], str]
) -> None:
    """Draw the box that finds a token by text or id, and choose what it finds.

    Args:
        tokens_of: cuts a text into tokens.
        probabilities: `[V]`, the model's own.
        name_of: gives a token's visible text.
    """
    st.text_input(
        "Find a token",
        key=LOOK_UP,
        placeholder="Find a token: a word, or #7042",
        label_visibility="collapsed",
        width=230,
    )
    wanted = st.session_state.get(LOOK_UP) or ""
    if not wanted:
        return
    chosen, sentence = found(wanted, tokens_of, len(probabilities))
    if chosen is not None:
        st.session_state[keys.LM_HEAD_TOKEN] = chosen
    if sentence:
        (st.info if chosen is not None else st.warning)(markdown(sentence))
    spaced = with_space(wanted, tokens_of, probabilities)
    if spaced is not None:
        share = percent(float(probabilities[spaced]))
        st.button(
            f"Did you mean **{markdown(name_of(spaced))}**, with the space before it? {share}",
            key="with_space",
            type="tertiary",
            icon=":material/help:",
            on_click=_look_up_instead,
            args=(f" {wanted}",),
        )


def _look_up_instead(text: str) -> None:
    st.session_state[LOOK_UP] = text


def with_space(
    wanted: str, tokens_of: Callable[[str], Sequence[Token]], probabilities: Array
) -> int | None:
    """Return the token that a word begins with after a space, if that is the likelier one.

    Most words stand in the vocabulary twice, and the one that goes on with a sentence has a space
    at its start, which nobody types.

    Args:
        wanted: what was looked up.
        tokens_of: cuts a text into tokens.
        probabilities: `[V]`.
    """
    if wanted[:1].isspace() or wanted.startswith("#"):
        return None
    bare, spaced = tokens_of(wanted), tokens_of(f" {wanted}")
    if not bare or not spaced or spaced[0].data.strip() == b"":
        return None
    better = probabilities[spaced[0].id] > probabilities[bare[0].id]
    return spaced[0].id if better else None


def found(
    wanted: str, tokens_of: Callable[[str], Sequence[Token]], vocabulary: int
) -> tuple[int | None, str]:
    """Return the token that a text means, and what is to be said about it.

    Args:
        wanted: `#` and an id, or text.
        tokens_of: cuts a text into tokens.
        vocabulary: how many ids there are.
    """
    number = wanted.strip().removeprefix("#")
    if wanted.strip().startswith("#"):
        if number.isdecimal() and int(number) < vocabulary:
            return int(number), ""
        return None, f"There is no token {wanted.strip()}: ids go from 0 to {vocabulary - 1:,}."
    tokens = tokens_of(wanted)
    if not tokens:
        return None, f"The vocabulary has no bytes for “{wanted}”."
    if len(tokens) > 1:
        pieces = " + ".join(f"“{token.data.decode(errors='replace')}”" for token in tokens[:6])
        more = " + …" if len(tokens) > 6 else ""
        return tokens[0].id, (
            f"“{wanted}” is {len(tokens)} tokens: {pieces}{more}. The first is shown; the model "
            "scores one token at a time."
        )
    return tokens[0].id, ""


def rank_words(terms: LogitTerms, name: str, rank: int, probability: float) -> None:
    """Say where a token stands among all."""
    st.markdown(
        f"**{markdown(name)}** (id {terms.token_id}) is number **{rank:,}** with the logit "
        f"**{terms.logit:.2f}** and the probability **{percent(probability)}**."
    )


def sum_words(terms: LogitTerms, name: str) -> None:
    """Spell one score out as a sum: the terms that weigh most, and all the others together."""
    order = np.argsort(-np.abs(terms.products))[:4]
    shown = " + ".join(f"{_factor(terms.hidden[i])}·{_factor(terms.weights[i])}" for i in order)
    rest = terms.dot - float(terms.products[order].sum(dtype=np.float64))
    st.markdown(
        f"The logit of {markdown(name)} is the sum of {len(terms.products)} products, one per "
        f"number of the vector: "
        f"{markdown(shown)} {'+' if rest >= 0 else '−'} {abs(rest):.2f} (the other "
        f"{len(terms.products) - len(order)}) = **{terms.dot:.2f}**."
    )
    if terms.softcap is not None:
        st.markdown(
            f"This family bounds it: {terms.softcap:g} · tanh({terms.dot:.2f} ÷ "
            f"{terms.softcap:g}) = **{terms.logit:.2f}**."
        )


def _factor(value: float) -> str:
    return f"{value:.2f}" if value >= 0 else f"(−{abs(value):.2f})"


def softmax_bars(
    steps: SoftmaxSteps, ids: Sequence[int], pieces: Sequence[bytes], vocabulary: int
) -> None:
    """Draw the scores before and the probabilities after, and say what a lead in score is worth.

    Args:
        steps: of the likeliest tokens, the first one on top.
        ids: those tokens.
        pieces: their bytes.
        vocabulary: how many tokens share the whole.
    """
    height = 70 + 26 * (len(ids) + 1)
    left, right = side_by_side(1, 1)
    with left:
        title = f"Before: how far each score lies below the largest, {steps.largest:.2f}"
        figure = bars(
            ids,
            pieces,
            steps.shifted,
            title=title,
            key="softmax_before",
            percent=False,
            value_name="score − largest",
            height=height,
        )
        chart(figure, key="softmax_before", alt=title)
    with right:
        rest = max(0.0, 1.0 - float(steps.probabilities.sum(dtype=np.float64)))
        title = f"After: e to that, ÷ the sum over all {vocabulary:,} tokens"
        figure = bars(
            [*ids, -1],
            [*pieces, b"others"],
            [*steps.probabilities.tolist(), rest],
            title=title,
            key="softmax_after",
            height=height,
        )
        chart(figure, key="softmax_after", alt=title)


def softmax_words(steps: SoftmaxSteps, names: Sequence[str]) -> None:
    """Say what a lead in score is worth, with the first two tokens."""
    if len(names) < 2:
        return
    lead = float(steps.shifted[0] - steps.shifted[1])
    st.markdown(
        f"**Only the lead counts, and it counts as a power of e.** {markdown(names[0])} leads "
        f"{markdown(names[1])} by {lead:.2f} points, so it is e^{lead:.2f} = "
        f"**{np.exp(lead):,.3g} times** as probable. Every further point of lead is a factor "
        f"of {np.e:.2f}, and no token ever gets exactly 0."
    )


def softmax_table(steps: SoftmaxSteps, names: Sequence[str]) -> None:
    """Show the softmax in its steps, one row per token."""
    st.dataframe(
        {
            "token": list(names),
            "logit": steps.logits.tolist(),
            f"− {steps.largest:.2f} (the largest)": steps.shifted.tolist(),
            "e to that": steps.weights.tolist(),
            f"÷ {steps.total:.4g} (sum of all)": steps.probabilities.tolist(),
        },
        hide_index=True,
        width="stretch",
        key="softmax_steps",
    )


def why_subtract(steps: SoftmaxSteps) -> None:
    """Say why the largest logit is subtracted first, with numbers that overflow without it."""
    with np.errstate(over="ignore"):
        here = float(np.exp(np.float32(steps.largest)))
        far = float(np.exp(np.float32(100.0)))
    st.markdown(
        f"**Why subtract the largest?** It changes nothing, because e^(x − m) ÷ Σ e^(x − m) has "
        f"the factor e^−m above and below. But the largest term becomes e⁰ = 1, so nothing "
        f"overflows. Here e^{steps.largest:.2f} = {here:.4g} would still fit; float32 ends at "
        f"3.4·10³⁸, so e^{88.8} is already too much and e^100 comes out as "
        f"{'infinity' if np.isinf(far) else f'{far:.3g}'}: the division would give no number "
        "(NaN). At a temperature of 0.1 all logits are ten times as large."
    )


def entropy_words(bits: float, choices: float, vocabulary: int) -> None:
    """Say how uncertain the distribution is."""
    st.markdown(
        f"Entropy **{bits:.2f} bits**: as uncertain as a draw among **{choices:,.1f}** equally "
        f"likely tokens (effective number of choices), out of {vocabulary:,}."
    )


def logit_histogram(
    counts: Histogram, marks: Sequence[tuple[str, float]], *, title: str, key: str
) -> go.Figure:
    """Return how many tokens have which logit, with some tokens marked.

    Args:
        counts: of the whole vocabulary.
        marks: name and logit of the tokens to mark; plain text, escaped here.
        title: what is seen.
        key: the chart's key.
    """
    figure = frame(title, height=340, revision=key, bargap=0.04)
    middles = (counts.edges[:-1] + counts.edges[1:]) / 2
    figure.add_trace(
        go.Bar(
            x=packed(middles),
            y=np.where(counts.counts > 0, counts.counts, np.nan).astype(np.float32),
            marker={"color": theme.ACCENT},
            hovertemplate="logit around %{x:.1f}<br>%{y:,} tokens<extra></extra>",
        )
    )
    for number, (name, logit) in enumerate(marks):
        figure.add_vline(
            x=logit,
            line={"color": theme.PICKED, "width": 2, "dash": "dot"},
            annotation={
                "text": escape(name, limit=20),
                "font": {"color": theme.PICKED, "size": 13},
                "y": 1.0 - 0.12 * number,
                "yanchor": "top",
            },
            annotation_position="top left",
        )
    figure.update_yaxes(type="log", title="tokens", dtick=1, exponentformat="power")
    figure.update_xaxes(title="logit", zeroline=False, showgrid=False)
    return figure


def mass_curve(
    mass: Array, *, title: str, key: str, marks: Sequence[tuple[int, float]] = ()
) -> go.Figure:
    """Return the share that the 1, 2, 3, … likeliest tokens hold, on a log axis of ranks.

    Args:
        mass: `[V]`, climbing to 1.
        title: what is seen.
        key: the chart's key.
        marks: (rank, share) to mark, such as where 90 % are reached.
    """
    # Beyond the first hundred ranks a point each would be too many: an even spread on the log axis.
    ranks = np.unique(np.geomspace(1, len(mass), 240).round().astype(np.int64))
    figure = frame(title, height=340, revision=key)
    figure.add_trace(
        go.Scatter(
            x=ranks,
            y=packed(mass[ranks - 1]),
            mode="lines",
            line={"color": theme.ACCENT, "width": 3},
            hovertemplate="the %{x:,} likeliest tokens hold "
            f"%{{y:{share_format(2)}}}<extra></extra>",
        )
    )
    for rank, share in marks:
        figure.add_trace(
            go.Scatter(
                x=[rank],
                y=[share],
                mode="markers+text",
                text=[escape(f"{percent(share)} in {rank:,}")],
                textposition="bottom right",
                textfont={"size": 13, "color": theme.TEXT},
                marker={"color": theme.PICKED, "size": 10},
                hoverinfo="skip",
            )
        )
    figure.update_xaxes(type="log", title="tokens, likeliest first", dtick=1, showgrid=False)
    figure.update_xaxes(range=[-0.05, float(np.log10(len(mass))) + 0.3], tickformat=",d")
    figure.update_yaxes(range=[0, 1.05], tickformat=share_format(), title="share of all")
    return figure
