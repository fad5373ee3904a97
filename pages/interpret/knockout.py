"""“Take a part away”, the same on the attention and the feed-forward page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from components.interpret import knockout
from components.kit.arrays import Array
from components.kit.show import chart
from components.kit.tasks import Task
from components.kit.text import markdown, visible
from components.link import check, keys
from pages.frame import job, results

if TYPE_CHECKING:
    from engine.attention.patterns import HeadScores
    from engine.observe.edits import Edit
    from pages.frame.live import Live

CHOSEN = "sweep_chosen"
SWEEP = "sweep"
REPLACEMENT = "replacement"


def show(live: Live, scores: HeadScores) -> None:
    """Draw the controls, both answers side by side, and the sweep.

    Args:
        live: the prompt; layer, head and token are those of the selection.
        scores: of the heads, to find an induction head for the presets.
    """
    text = knockout.controls(_choices(live), _presets(live, scores))
    _replacement(live)
    edits = _read(live, text)
    if edits:
        from engine.observe.edits import write_edits

        pieces = [token.data for token in live.tokens]
        bytes_of = live.model.tokenizer.bytes_of
        listed = "; ".join(
            knockout.in_words(code, pieces, bytes_of) for code in write_edits(edits).split()
        )
        st.markdown(f"**Changed:** {listed}. The pictures of the other views stay as they were.")
        with st.spinner("Running the changed model once …"):
            found = results.difference(live.model.source, live.ids, edits)
        knockout.show_difference(found, bytes_of, "The likeliest next tokens as changed")
        st.caption(
            "What is taken away adds zeros, a state that the model never met in training. So this "
            "shows what later parts miss, not what a model trained without the part would do; and "
            "other heads may do the same work."
        )
    else:
        st.info(
            "Take away what is selected above, or try one of the examples. A second pass runs "
            "beside the first, which is never touched.",
            icon=":material/info:",
        )
    sweep(live)


def task(live: Live, *, part: str, bits: float, text: str) -> Task:
    """Return a task that asks for one telling edit: its text, whether it is done, and where.

    Args:
        live: the prompt.
        part: how the code of the one edit must begin: `h` for a head, `m` for a feed-forward
            network.
        bits: the KL divergence that is to be reached.
        text: what to do, as Markdown.
    """
    from engine.observe.edits import read_edits

    codes = check.text(keys.EDITS)
    edits, _ = read_edits(codes, live.model.architecture, len(live.ids))
    if not edits:
        return Task(text, False, "Nothing is taken away.")
    found = results.difference(live.model.source, live.ids, edits)
    done = len(edits) == 1 and codes.strip().startswith(part) and found.kl >= bits
    return Task(text, done, f"Taken away: {len(edits)}; the answer is {found.kl:.2f} bits off.")


def _choices(live: Live) -> list[knockout.Choice]:
    """Return the edits of what is selected."""
    layer, head = (st.session_state.get(key, 0) for key in (keys.LAYER, keys.HEAD))
    choices = [
        knockout.Choice(f"Head {head} of layer {layer}", f"h{layer}.{head}"),
        knockout.Choice(f"Attention of layer {layer}", f"a{layer}"),
        knockout.Choice(f"Feed-forward of layer {layer}", f"m{layer}"),
    ]
    if live.model.architecture.positions != "none":
        choices.append(
            knockout.Choice("Position", "p", "Every token claims position 0; the mask stays.")
        )
    return choices


def _presets(live: Live, scores: HeadScores) -> list[knockout.Choice]:
    """Return edits that show something on this prompt."""
    presets = []
    if scores.followed:
        best = np.unravel_index(scores.induction.argmax(), scores.induction.shape)
        layer, head = (int(i) for i in best)
        presets.append(
            knockout.Choice(
                f"The strongest induction head: layer {layer}, head {head}",
                f"h{layer}.{head}",
                "It reads what followed the same token before, so it helps to repeat.",
            )
        )
        order = np.argsort(-scores.induction.ravel(), kind="stable")[:4]
        places = [divmod(int(i), scores.induction.shape[1]) for i in order]
        presets.append(
            knockout.Choice(
                "The four strongest induction heads",
                " ".join(f"h{layer}.{head}" for layer, head in places),
                "One head's work is often done by others too; take several.",
            )
        )
    norms = results.residual_norms(live.model.source, live.ids)
    jump = int(norms.mlp_out.max(axis=1).argmax())
    presets += [
        knockout.Choice("Attention of layer 0", "a0", "The first reading of the neighbours."),
        knockout.Choice(
            f"The feed-forward network that adds the longest vector: layer {jump}",
            f"m{jump}",
            "It makes the first token the place where attention rests.",
        ),
        knockout.Choice("The feed-forward network of layer 0", "m0"),
        knockout.Choice("Position", "p", "The order of the tokens is known from the mask alone."),
    ]
    return presets


def _replacement(live: Live) -> None:
    """Draw the box that gives the chosen token another's embedding."""
    token = int(st.session_state.get(keys.TOKEN, 0))
    piece = visible(live.tokens[token].data, limit=20)

    def replace() -> None:
        typed = str(st.session_state.get(REPLACEMENT) or "")
        found = live.model.tokenizer.encode(typed)
        if found:
            knockout.add(f"e{token}:{found[0].id}")

    with st.container(horizontal=True, vertical_alignment="bottom", key="replace_row"):
        typed = st.text_input(
            f"Give token {token}, {markdown(piece)}, the embedding of",
            key=REPLACEMENT,
            max_chars=60,
            placeholder="type a word, with its leading space",
        )
        found = live.model.tokenizer.encode(typed) if typed else []
        name = visible(found[0].data, limit=20) if found else "…"
        st.button(
            f"Replace by {markdown(name)}",
            key="replace",
            icon=":material/swap_horiz:",
            on_click=replace,
            disabled=not found,
            help="The first token of what you type counts.",
        )


def _read(live: Live, text: str) -> tuple[Edit, ...]:
    """Return the edits of the text, and say what can't be read."""
    from engine.observe.edits import read_edits

    edits, problems = read_edits(text, live.model.architecture, len(live.ids))
    for problem in problems:
        st.warning(markdown(problem))
    return edits


@st.fragment
def sweep(live: Live) -> None:
    """Take each head away once, on demand, and draw what it does to one token's probability."""
    if st.session_state.pop(CHOSEN, False):
        st.rerun()  # what a click chose is drawn outside of this fragment
    shape, bytes_of = live.model.architecture, live.model.tokenizer.bytes_of
    st.markdown("#### Which head matters for the answer?")
    ids, probabilities = results.top_tokens(live.model.source, live.ids)
    names = {token: f"{visible(bytes_of(token), limit=20)} ({token})" for token in ids}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        token = st.selectbox(
            "Probability of", ids, format_func=lambda i: names[i], key="sweep_token"
        )
        table = results.sweep_table(live.model.source, live.ids, int(token))
        done = int(np.isfinite(table[:, 0]).sum())
        wanted = job.button(
            "Take each head away, one by one" if done == 0 else "Go on",
            SWEEP,
            disabled=done == shape.layers,
        )
    if wanted:
        _run_sweep(live, int(token), table)
    if np.isnan(table).all():
        st.caption(
            f"{shape.layers * shape.heads} passes with one head less each, several at a time; "
            "about a minute for a short prompt on two cores. What is done stays."
        )
        return
    plain = probabilities[ids.index(token)]
    _sweep_chart(table, plain, visible(bytes_of(int(token)), limit=14))


def _sweep_chart(table: Array, plain: float, name: str) -> None:
    """Draw what is known of the sweep; a click takes that head away."""

    def choose(event: Any) -> None:
        place = knockout.selected_sweep_head(event, table)
        if place is not None:
            st.session_state[keys.LAYER], st.session_state[keys.HEAD] = place
            knockout.only(f"h{place[0]}.{place[1]}")
            st.session_state[CHOSEN] = True

    chart(
        knockout.sweep_figure(table, plain, name, key="sweep_chart"),
        key="sweep_chart",
        alt=f"How the probability of {name} changes without each head",
        on_select=choose,
    )


def _run_sweep(live: Live, token: int, table: Array) -> None:
    """Fill the table layer by layer."""
    from engine.interpret import knockout as engine_knockout

    missing = [int(i) for i in np.flatnonzero(np.isnan(table[:, 0]))][::-1]
    bar = st.progress(0.0, text="Taking away the heads of the last layer …")

    def show(step: engine_knockout.SweepStep) -> None:
        table[step.layer] = step.probabilities
        done = len(missing) - int(np.isnan(table[missing, 0]).sum())
        bar.progress(done / len(missing), text=f"Layer {step.layer} done")

    with job.running(SWEEP):
        job.follow(engine_knockout.sweep(live.trace(), token, layers=missing), show)
