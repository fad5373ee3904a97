"""The sampling laboratory beside the chain: draws, sweeps, A and B, sharpness, beams.

Each part takes the prompt on the running model, asks the engine and hands what it says to
components.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from components.kit.bars import bars
from components.kit.layout import side_by_side
from components.kit.show import chart
from components.kit.text import counted, markdown, visible
from components.kit.written import written_line
from components.link import keys, widgets
from components.sampling.beam import comparison_table, score_words, tree_figure
from components.sampling.cumulative_bar import cumulative_bar
from components.sampling.draws import counts_chart, explain_test, same_seed
from components.sampling.presets import PRESETS, settings_of
from components.sampling.sharpness import fact_table, recorded, sharpness_chart, sharpness_words
from components.sampling.sweeps import nucleus_figure, temperature_figure
from engine.basics import statistics
from engine.sampling import chain as sampling
from engine.sampling import experiments
from pages.frame import job, results
from pages.frame.kept import keep, kept

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from engine.generation.beam import BeamTree
    from engine.generation.token_step import TokenStep
    from engine.sampling.sharpness import Sharpness
    from pages.frame.live import Live

Names = Callable[[int], str]

WRITE, TEXTS = "ab_write", "ab_texts"
MEASURE, SHARPNESS = "measure_sharpness", "sharpness_measured"
SEARCH, BEAMS = "beam_search", "beams_found"
WRITTEN = 40
"""Tokens that A and B write."""
DRAWS = 1000
MODELS_KEPT = 4
FLAT_PROMPT = "Roses are red, violets are"
CHAIN = "Settings of the chain"
SIDES = (
    ("Settings A", keys.SETTINGS_A, "Greedy"),
    ("Settings B", keys.SETTINGS_B, "Creative"),
)
"""Both sides of the comparison: label, key, what is chosen at first."""


def draw_view(live: Live, last: sampling.Stage, picked: int, name_of: Names) -> None:
    """One draw on the line of all shares, then a thousand beside the theory."""
    numbers = results.uniforms(live.seed, DRAWS)
    cumulative_bar(last.probabilities, numbers[0], picked, name_of, key="draw_line")
    seeds = range(live.seed + 1, live.seed + 6)
    others = [
        (seed, name_of(sampling.draw(last.probabilities, results.uniforms(seed, 1)[0])))
        for seed in seeds
    ]
    same_seed(live.seed, numbers[0], name_of(picked), others)
    drawn = experiments.draw_many(last.probabilities, numbers)
    groups = [int(i) for i in statistics.groups_for_test(last.probabilities, DRAWS)]
    observed = [int((drawn == i).sum()) for i in groups]
    expected = [float(last.probabilities[i]) * DRAWS for i in groups]
    pieces = [live.model.tokenizer.bytes_of(i) for i in groups]
    if last.survivors > len(groups):
        groups.append(-1)
        observed.append(DRAWS - sum(observed))
        expected.append(max(DRAWS - sum(expected), 0.0))
        pieces.append(b"others")
    counts_chart(groups, pieces, observed, expected, DRAWS)
    explain_test(statistics.chi_square(observed, expected), DRAWS)


@st.fragment
def sweep_view(live: Live, settings: sampling.SamplingSettings, name_of: Names) -> None:
    """Temperature and top-p from end to end, for this prompt and a second one."""
    second = widgets.text("Second prompt, to compare with", FLAT_PROMPT, key=keys.SWEEP_PROMPT)
    _, other, problem = results.other_prompt(live.model.source, second)
    if other is None:
        st.warning(markdown(problem))
        return
    rows = [(live.request.prompt, live.trace().logits), (second, other)]
    temperatures = [round(0.05 * step, 2) for step in range(1, 61)]
    for number, (column, (text, logits)) in enumerate(zip(side_by_side(1, 1), rows, strict=True)):
        sweep = experiments.temperature_sweep(logits, temperatures, 5)
        low, high = sweep.entropy_bits[0], sweep.entropy_bits[-1]
        title = f"“{visible(text, limit=28)}”: {low:.1f} to {high:.1f} bits"
        names = [name_of(int(i)) for i in sweep.ids]
        figure = temperature_figure(
            sweep, names, title=title, key=f"sweep_{number}", at=settings.temperature
        )
        with column:
            chart(figure, key=f"sweep_{number}", alt=f"Top tokens over the temperature, {title}")
    masses = np.linspace(0, 1, 101).tolist()
    sizes = [
        (visible(text, limit=40), experiments.nucleus_sizes(logits, masses))
        for text, logits in rows
    ]
    at_90 = [int(counts[90]) for _, counts in sizes]
    k = settings.top_k or 50
    title = (
        f"Top-p adapts: p = 0.9 keeps {at_90[0]:,} and {at_90[1]:,} tokens; top-k keeps {k} of both"
    )
    figure = nucleus_figure(masses, sizes, k=k, title=title, key="nucleus")
    chart(figure, key="nucleus", alt=title)


def compare_view(live: Live, chain: sampling.SamplingSettings, name_of: Names) -> None:
    """Two settings on the same prompt, and what they write from the same seed."""
    options = [CHAIN, *(preset.name for preset in PRESETS)]
    logits = live.trace().logits
    chosen: list[tuple[str, sampling.SamplingSettings]] = []
    columns = side_by_side(1, 1)
    for column, (label, key, start) in zip(columns, SIDES, strict=True):
        with column:
            name = widgets.choice(label, options, default=start, key=key, draw=st.selectbox)
        chosen.append((name, chain if name == CHAIN else settings_of(name)))
    count = len(live.ids)
    rows = [
        sampling.final_probabilities(logits, s, live.ids, prompt_tokens=count) for _, s in chosen
    ]
    likeliest = np.argsort(-np.maximum(*rows), kind="stable")[:10]
    ids = [int(i) for i in likeliest if max(row[i] for row in rows) > 0]
    high = float(max(row.max() for row in rows))
    for side, column, (name, _), row in zip("AB", columns, chosen, rows, strict=True):
        count = int((row > 0).sum())
        title = f"{side}, {name}: {counted(count, 'token')} can be drawn"
        pieces = [live.model.tokenizer.bytes_of(i) for i in ids]
        figure = bars(
            ids, pieces, row[ids], title=title, key=f"ab_{side}", kept=row[ids] > 0, high=high
        )
        with column:
            chart(figure, key=f"ab_{side}", alt=title)
    _write_both(live, chosen, columns)


def _write_both(
    live: Live,
    chosen: list[tuple[str, sampling.SamplingSettings]],
    columns: Sequence[DeltaGenerator],
) -> None:
    """Write with A and with B from the same seed, and keep each token."""
    request = (live.model.source, live.ids, live.seed, tuple(settings for _, settings in chosen))
    wanted = job.button(f"Write {WRITTEN} tokens with both", WRITE, icon=":material/edit_note:")
    places = [column.empty() for column in columns]
    if wanted:
        texts: tuple[list[tuple[int, bytes]], ...] = ([], [])

        def show(number: int, step: TokenStep) -> None:
            texts[number].append((step.id, step.data))
            keep(TEXTS, request, texts)
            places[number].html(written_line(live.request.prompt, texts[number]))

        with job.running(WRITE):
            for number, (_, settings) in enumerate(chosen):
                job.follow(written(live, settings, WRITTEN), partial(show, number))
    for place, tokens in zip(places, kept(TEXTS, request, ()), strict=False):
        place.html(written_line(live.request.prompt, tokens))


def written(
    live: Live, settings: sampling.SamplingSettings, tokens: int
) -> Generator[TokenStep, None, None]:
    """Write from the page's prompt and seed with these settings."""
    from engine.generation.loop import generate

    return generate(live.model, live.ids, settings, max_new_tokens=tokens, seed=live.seed)


def sharpness_part(live: Live) -> None:
    """The recorded measurement, or the running model's own on demand."""
    source = live.model.source
    if job.button("Measure again with this model", MEASURE, icon=":material/refresh:"):
        start = time.perf_counter()
        with job.running(MEASURE):
            measured = measure_sharpness(live)
            keep(SHARPNESS, source, (measured, time.perf_counter() - start), most=MODELS_KEPT)
    result, seconds = kept(SHARPNESS, source, (None, 0.0))
    if result is None:
        st.caption("Recorded from the default model; its own script made it.")
        result = recorded()
    else:
        st.caption(f"Measured here in {seconds:.0f} s.")
    sharpness_words(result)
    sharpness_chart(result)
    with st.expander("All prompts", key="facts_open", on_change="rerun") as facts:
        if facts.open:
            fact_table(result)


def measure_sharpness(live: Live) -> Sharpness:
    """Ask the running model all facts, with a bar that grows."""
    from engine.generation.sharpness import measure
    from engine.sampling.sharpness import load_facts

    bar = st.progress(0.0, text="Asking …")

    def show(done: int, total: int) -> None:
        bar.progress(done / total, text=f"{done} of {total} prompts")

    return measure(live.model, load_facts(), progress=show)


def beam_part(live: Live, settings: sampling.SamplingSettings, name_of: Names) -> None:
    """Beam search as a tree, beside greedy and a sample."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="beam_controls"):
        width = int(widgets.slider(keys.limit(keys.BEAM_WIDTH)))
        tokens = int(widgets.slider(keys.limit(keys.BEAM_TOKENS)))
        penalty = float(widgets.slider(keys.limit(keys.BEAM_PENALTY)))
        wanted = job.button("Search", SEARCH, primary=True, icon=":material/account_tree:")
    request = (live.model.source, live.ids, width, tokens, penalty)
    if wanted:
        with job.running(SEARCH):
            trees = [beams(live, beam_width, tokens, penalty) for beam_width in (width, 1)]
            keep(BEAMS, request, (*trees, list(written(live, settings, tokens))))
    found = kept(BEAMS, request)
    if found is None:
        st.info("Choose the width and press Search: the model reads every open continuation.")
        return
    tree, greedy, sample = found
    chart(tree_figure(tree, name_of), key="beams", alt="The tree of the beam search")
    decode = live.model.tokenizer.decode
    rows = [
        (way, visible(decode(h.ids)), h.total, len(h.ids), h.score)
        for way, searched in (("beams: the winner", tree), ("greedy", greedy))
        for h in searched.hypotheses[:1]
    ]
    total = float(sum(np.log(max(step.raw_probability, 1e-45)) for step in sample))
    text = visible(decode([step.id for step in sample]))
    rows.append(
        ("a sample, these settings", text, total, len(sample), total / len(sample) ** penalty)
    )
    comparison_table(rows)
    score_words(penalty)


def beams(live: Live, width: int, tokens: int, length_penalty: float) -> BeamTree:
    """Search, with a bar that grows."""
    from engine.generation.beam import beam_search

    bar = st.progress(0.0, text="Searching …")

    def show(depth: int) -> None:
        bar.progress(depth / tokens, text=f"Step {depth} of {tokens}")

    tree = beam_search(
        live.model,
        live.ids,
        width=width,
        max_new_tokens=tokens,
        length_penalty=length_penalty,
        progress=show,
    )
    bar.empty()
    return tree
