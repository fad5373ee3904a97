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
from components.kit.layout import FULL, side_by_side
from components.kit.show import chart
from components.kit.text import counted, markdown, visible
from components.kit.written import written_line
from components.link import keys, widgets
from components.sampling.beam import comparison_table, score_words, tree_figure
from components.sampling.cumulative_bar import cumulative_bar
from components.sampling.draws import counts_chart, explain_test, same_seed
from components.sampling.presets import FORMERLY, PRESETS, settings_of
from components.sampling.sharpness import (
    calibration_chart,
    example_chart,
    fact_table,
    groups_chart,
    recorded,
    sharpness_words,
)
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

TEXTS, TEXTS_KEPT = "ab_texts", 8
MEASURE, SHARPNESS = "measure_sharpness", "sharpness_measured"
BEAMS, SAMPLE, BEAMS_KEPT = "beams_found", "beam_sample", 8
WRITTEN = 30
"""Tokens that A and B write."""
DRAWS = 5000
MODELS_KEPT = 4
FLAT_PROMPT = "Roses are red, violets are"
CHAIN = "Settings of the chain"
SIDES = (
    ("Settings A", keys.SETTINGS_A, "Greedy (always the top)"),
    ("Settings B", keys.SETTINGS_B, "Flatter, tail cut"),
)
"""Both sides of the comparison: label, key, what is chosen at first."""


def draw_view(live: Live, last: sampling.Stage, picked: int, name_of: Names) -> None:
    """One draw on the line of all shares, then thousands beside the theory."""
    numbers = results.uniforms(live.seed, DRAWS)
    with st.container(key="main_picture"):
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
    if last.drawable > len(groups):
        groups.append(-1)
        observed.append(DRAWS - sum(observed))
        expected.append(max(DRAWS - sum(expected), 0.0))
        pieces.append(b"others")
    counts_chart(groups, pieces, observed, expected, DRAWS)
    explain_test(statistics.chi_square(observed, expected), DRAWS)


@st.fragment
def sweep_view(live: Live, settings: sampling.SamplingSettings, name_of: Names) -> None:
    """Temperature and top-p from end to end, for this prompt and a second one."""
    with st.container(key="main_picture"):
        columns = side_by_side(1, 1)
    second = widgets.text(
        "Second prompt, to compare with",
        FLAT_PROMPT,
        key=keys.SWEEP_PROMPT,
    )
    _, other, problem = results.other_prompt(live.model.source, second)
    if other is None:
        st.warning(markdown(problem))
        return
    rows = [(live.request.prompt, live.trace().logits), (second, other)]
    temperatures = [round(0.05 * step, 2) for step in range(1, 61)]
    for number, (column, (text, logits)) in enumerate(zip(columns, rows, strict=True)):
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
    chart(figure, key="nucleus", alt=title, room=FULL)


def compare_view(live: Live, chain: sampling.SamplingSettings, name_of: Names) -> None:
    """Two settings on the same prompt, and what they write from the same seed."""
    options = [CHAIN, *(preset.name for preset in PRESETS)]
    logits = live.trace().logits
    chosen: list[tuple[str, sampling.SamplingSettings]] = []
    columns = side_by_side(1, 1)
    for column, (label, key, start) in zip(columns, SIDES, strict=True):
        with column:
            name = widgets.choice(
                label,
                options,
                default=start,
                key=key,
                draw=st.selectbox,
                formerly=FORMERLY,
                label_visibility="collapsed",
            )
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
    """Write with A and with B from the same seed, a token at a time, unless that is kept."""
    request = (live.model.source, live.ids, live.seed, tuple(settings for _, settings in chosen))
    places = [column.container() for column in columns]
    lines = [place.empty() for place in places]
    texts: tuple[list[tuple[int, bytes]], ...] | None = kept(TEXTS, request)
    if texts is None:
        texts = ([], [])
        for line, tokens, (_, settings) in zip(lines, texts, chosen, strict=True):
            job.follow(written(live, settings, WRITTEN), partial(_show_step, live, line, tokens))
        keep(TEXTS, request, texts, most=TEXTS_KEPT)
    for place, line, tokens in zip(places, lines, texts, strict=True):
        line.html(written_line(live.request.prompt, tokens))
        place.caption(_ending(live, tokens))


def _show_step(
    live: Live, line: DeltaGenerator, tokens: list[tuple[int, bytes]], step: TokenStep
) -> None:
    tokens.append((step.id, step.data))
    line.html(written_line(live.request.prompt, tokens))


def _ending(live: Live, tokens: Sequence[tuple[int, bytes]]) -> str:
    """Say how a text of the comparison ended."""
    if tokens and tokens[-1][0] in live.model.stop_ids:
        if len(tokens) == 1:
            return "The end token came first: with these settings the model writes nothing here."
        return f"Ended by its end token after {counted(len(tokens), 'token')}."
    return f"Cut after {counted(len(tokens), 'token')}; seed {live.seed}, as on the other side."


def written(
    live: Live, settings: sampling.SamplingSettings, tokens: int
) -> Generator[TokenStep, None, None]:
    """Write from the page's prompt and seed with these settings."""
    from engine.generation.loop import generate

    return generate(live.model, live.ids, settings, max_new_tokens=tokens, seed=live.seed)


def sharpness_part(live: Live) -> None:
    """The recorded measurement, or the running model's own on demand."""
    source = live.model.source
    result, seconds = kept(SHARPNESS, source, (None, 0.0))
    how = f"Measured here in {seconds:.0f} s."
    if result is None:
        result = recorded()
        how = f"Recorded from {result.model} by a script of this product."
    with st.container(key="main_picture"):
        left, right = side_by_side(1, 1)
        with left:
            groups_chart(result)
        with right:
            example_chart(result)
    sharpness_words(result)
    calibration_chart(result)
    st.caption(
        "So a probability is worth something, and it is no proof: try the example “Sure and "
        "wrong”. " + how
    )
    if job.button("Measure again with this model", MEASURE, icon=":material/refresh:"):
        start = time.perf_counter()
        with job.running(MEASURE):
            measured = measure_sharpness(live)
            keep(SHARPNESS, source, (measured, time.perf_counter() - start), most=MODELS_KEPT)
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
    """Beam search as a tree, beside greedy and a sample; searched as soon as it is looked at."""
    place = st.container(key="main_picture")
    with st.container(horizontal=True, key="beam_controls"):
        width = int(widgets.slider(keys.limit(keys.BEAM_WIDTH), width=200))
        tokens = int(widgets.slider(keys.limit(keys.BEAM_TOKENS), width=200))
        penalty = float(widgets.slider(keys.limit(keys.BEAM_PENALTY), width=200))
    request = (live.model.source, live.ids, width, tokens, penalty)
    found = kept(BEAMS, request)
    if found is None:
        with place:
            found = tuple(beams(live, one, tokens, penalty) for one in (width, 1))
        keep(BEAMS, request, found, most=BEAMS_KEPT)
    tree, greedy = found
    with place:
        figure = tree_figure(tree, name_of)
        chart(figure, key="beams", alt="The tree of the beam search", room=FULL)
    _beam_table(live, tree, greedy, _sample(live, settings, tokens), penalty)
    score_words(penalty)


def _sample(live: Live, settings: sampling.SamplingSettings, tokens: int) -> list[TokenStep]:
    """Write as many tokens with the sampling settings, for comparison."""
    request = (live.model.source, live.ids, settings, live.seed, tokens)
    steps: list[TokenStep] | None = kept(SAMPLE, request)
    if steps is None:
        steps = list(written(live, settings, tokens))
        keep(SAMPLE, request, steps, most=BEAMS_KEPT)
    return steps


def _beam_table(
    live: Live, tree: BeamTree, greedy: BeamTree, sample: list[TokenStep], penalty: float
) -> None:
    decode = live.model.tokenizer.decode
    rows = [
        (way, visible(decode(h.ids)), h.total, len(h.ids), h.score)
        for way, searched in (("beams: the winner", tree), ("greedy", greedy))
        for h in searched.hypotheses[:1]
    ]
    total = float(sum(np.log(max(step.raw_probability, 1e-45)) for step in sample))
    text = visible(decode([step.id for step in sample]))
    score = total / len(sample) ** penalty
    rows.append(("a sample, these settings", text, total, len(sample), score))
    comparison_table(rows)


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
