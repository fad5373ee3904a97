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


def look_up(tokens_of: Callable[[str], Sequence[Token]], vocabulary: int) -> None:
    """Draw the box that finds a token by text or id, and choose what it finds."""
    st.text_input(
        "Find a token by its text or id",
        key=LOOK_UP,
        placeholder="a word as it would follow, such as “ Paris”, or #7042",
        help="A leading space counts: most words begin with one. `#` and a number is an id.",
    )
    wanted = st.session_state.get(LOOK_UP) or ""
    if not wanted:
        return
    chosen, sentence = found(wanted, tokens_of, vocabulary)
    if chosen is not None:
        st.session_state[keys.LM_HEAD_TOKEN] = chosen
    if sentence:
        (st.info if chosen is not None else st.warning)(markdown(sentence))


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


def one_score(terms: LogitTerms, name: str, rank: int, probability: float) -> None:
    """Spell one score out as a sum: the terms that weigh most, and all the others together."""
    order = np.argsort(-np.abs(terms.products))[:4]
    shown = " + ".join(f"{_factor(terms.hidden[i])}·{_factor(terms.weights[i])}" for i in order)
    rest = terms.dot - float(terms.products[order].sum(dtype=np.float64))
    st.markdown(
        f"**{markdown(name)}** (id {terms.token_id}) is number **{rank:,}** with the logit "
        f"**{terms.logit:.2f}** and the probability **{percent(probability)}**."
    )
    st.markdown(
        f"Its logit is the sum of {len(terms.products)} products, one a dimension: "
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


def softmax_table(steps: SoftmaxSteps, names: Sequence[str]) -> None:
    """Show the softmax in its steps, a row a token."""
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


def no_answer_words(different: int, vocabulary: int) -> None:
    """Say that the distribution is all the model produces."""
    st.markdown(
        f"**This distribution is all that the model produces.** There is no answer in it, no text "
        f"and no decision: one vector gave {vocabulary:,} scores, once. The table draws from that "
        f"same distribution with ten seeds and gets **{different}** different "
        f"token{'' if different == 1 else 's'}. Which one you read is decided outside the model, "
        "by the next stage (sampling) and a random number."
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
