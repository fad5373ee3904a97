"""Embedding page, In depth: the formulas with this prompt's numbers, and their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.embedding.order import FIRST, SECOND
from components.embedding.order import texts as order_texts
from components.kit.arrays import Array
from components.kit.layout import formulas
from components.kit.model_words import VOCABULARIES, pair_latex, pair_words
from components.kit.numbers import percent
from components.kit.tasks import Task
from components.link import keys

if TYPE_CHECKING:
    from engine.embedding.order import OrderComparison
    from engine.embedding.rope import RotatedPairs
    from engine.network.architecture import Architecture


STARTS = (FIRST, SECOND)


def grouped(number: int) -> str:
    """Return a whole number for LaTeX, its thousands apart."""
    return f"{number:,}".replace(",", "{,}")


def show_table(facts: Architecture, token_id: int, position: int, row: Array) -> None:
    """Write how one token becomes its vector.

    Args:
        facts: the model's sizes.
        token_id: the chosen token.
        position: where it stands.
        row: its row of the table, [D].
    """
    size = facts.vocabulary * facts.width
    st.markdown("#### From id to vector")
    numbers = ", ".join(f"{value:.3f}" for value in row[:3])
    formulas(
        rf"x_{{{position}}} = E[\mathrm{{id}}_{{{position}}}] = E[{grouped(token_id)}] = "
        rf"({numbers}, \dots)",
        rf"E \in \mathbb{{R}}^{{{grouped(facts.vocabulary)} \times {facts.width}}}",
    )
    st.markdown(
        f"- A look-up, no calculation. It is the same as a product of a vector with a single 1 at "
        f"place {token_id:,} and the table.\n"
        f"- The table holds {size / 1e6:.1f} million numbers, {percent(size / facts.parameters)} "
        f"of the model's {facts.parameters / 1e6:.0f} million"
        + (
            "; the LM head uses the same ones (tied), so they are stored once.\n"
            if facts.tied
            else "; the LM head has as many of its own.\n"
        )
        + "- Shapes: ids [T] → vectors [T, D]. Nothing of the sentence is in a row: the same id "
        "gives the same vector everywhere."
    )


def show_rope(
    wavelengths: Array, rotated: RotatedPairs, facts: Architecture, position: int
) -> None:
    """Write how RoPE puts the position into queries and keys.

    Args:
        wavelengths: [pairs], tokens for one full turn.
        rotated: which numbers the model turns together.
        facts: the model's sizes.
        position: the chosen token's place.
    """
    pairs = len(wavelengths)
    st.markdown("#### From position to angle (RoPE)")
    first_index, second_index = pair_latex(rotated.pairing, pairs)
    formulas(
        rf"\begin{{pmatrix}} q'_{{{first_index}}} \\ q'_{{{second_index}}} \end{{pmatrix}} = "
        r"\begin{pmatrix} \cos p\,\omega_i & -\sin p\,\omega_i \\ "
        r"\sin p\,\omega_i & \cos p\,\omega_i \end{pmatrix} "
        rf"\begin{{pmatrix}} q_{{{first_index}}} \\ q_{{{second_index}}} \end{{pmatrix}}",
        r"\omega_i = \theta^{-2i/"
        + str(2 * pairs)
        + "}"
        + (rf",\quad \theta = {grouped(round(facts.rope_theta))}" if facts.rope_theta else ""),
    )
    first, last = 360 * position / wavelengths[0], 360 * position / wavelengths[-1]
    st.markdown(
        f"{_which(rotated, facts.head_size)}"
        f"- At position p = {position} pair 0 is turned by {first:,.0f}° and pair {pairs - 1} by "
        f"{last:.3g}°. Pair 0 comes around every {wavelengths[0]:.2f} tokens, pair {pairs - 1} "
        f"every {wavelengths[-1]:,.0f}.\n"
        "- A turn changes no length: it adds nothing to the vector and takes nothing away.\n"
        "- Turned queries and keys meet in a product that depends on the distance only:"
    )
    st.latex(r"q'_m \cdot k'_n = \sum_i |q_i||k_i| \cos(\varphi_i + (m - n)\,\omega_i)")


def _which(rotated: RotatedPairs, size: int) -> str:
    """Say which of a head's numbers are turned together, as an item of a list."""
    words = pair_words(rotated.pairing, rotated.count)
    together = f"- Pair i is made of the numbers {words}.\n" if words else ""
    turned = 2 * rotated.count
    part = f"- Only {turned} of the {size} numbers of a head are turned.\n" if turned < size else ""
    return together + part


def show_limits() -> None:
    """Write what large models do differently and what the view leaves out."""
    st.markdown("#### What large models do differently")
    st.markdown(
        f"- Vectors of 4,096 to 16,384 numbers and vocabularies of {VOCABULARIES} rows. The "
        "largest usually have two tables (not tied); small models and all Gemmas use one twice.\n"
        "- RoPE with a larger base (500,000 or 1,000,000) or slowed-down speeds, to read 100,000 "
        "tokens and more; some turn only a part of each head, some leave it out in some layers."
    )
    st.markdown("#### What this view does not show")
    st.markdown(
        "- A row is the same in every text. What the word means in *this* text is added later, by "
        "the layers.\n"
        "- Rows that lie near each other were used alike in training; that is not the same as "
        "meaning the same.\n"
        "- A single number of a row has no meaning that anyone has written down."
    )


def tasks(
    order: OrderComparison | None, wavelengths: Array | None, nearest_cosine: float
) -> list[Task]:
    """Return what to try: the task, whether it is met, and where it stands.

    Args:
        order: the last comparison of two orders, if one was made.
        wavelengths: of the pairs, in tokens; None for a model without RoPE.
        nearest_cosine: of the chosen token and its nearest neighbour.
    """
    found = [
        Task(
            "Choose a token of your prompt that is **a loner**: the row nearest to its own has a "
            "cosine below 0.4. (Look-up)",
            nearest_cosine < 0.4,
            f"The nearest to the chosen token: {nearest_cosine:.2f}.",
            "Signs, numbers and pieces of rare words have no near relatives.",
            {keys.EMBEDDING_PART: "Look-up"},
        ),
        Task(
            "Find **two orders of the same words** of your own after which the lists of next "
            "tokens differ by more than half, and by less than half with position off. (Order)",
            order is not None
            and order.same_tokens
            and order_texts() != STARTS
            and order.with_position.distance > 0.5 > order.without_position.distance,
            "Nothing compared yet."
            if order is None
            else f"They differ by {percent(order.with_position.distance)}, with position off by "
            f"{percent(order.without_position.distance)}"
            + ("." if order.same_tokens else ", but they are not the same tokens.")
            + (" These are the app's own." if order_texts() == STARTS else ""),
            "Counting up and down works, and so does who does what to whom. End both with the same "
            "sign.",
            {keys.EMBEDDING_PART: "Order"},
        ),
    ]
    if wavelengths is not None:
        pair = min(st.session_state.get(keys.ROPE_PAIR, 0), len(wavelengths) - 1)
        wavelength = float(wavelengths[pair])
        found.append(
            Task(
                "Choose **a pair that can tell far from very far**: one that needs more than 1,000 "
                "tokens for one turn. (Position)",
                wavelength > 1000,
                f"Pair {pair}: {wavelength:,.1f} tokens for one turn.",
                "The pairs turn ever more slowly, from the first to the last.",
                {keys.EMBEDDING_PART: "Position"},
            )
        )
    return found
