"""The parts of the sampling laboratory beside the chain: the page's longer passages.

Each takes the prompt on the running model, asks the engine and hands the results to components.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from components.kit.bars import bars
from components.kit.layout import side_by_side
from components.kit.show import chart
from components.kit.text import markdown, visible
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
from pages.frame import lab

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from pages.frame.live import Live

Names = Callable[[int], str]

TEXTS, BEAMS = "ab_texts", "beams"
DRAWS = 1000
FLAT_PROMPT = "Roses are red, violets are"
CHAIN = "Settings of the chain"
SIDES = (
    ("Settings A", keys.SETTINGS_A, "Greedy"),
    ("Settings B", keys.SETTINGS_B, "Creative"),
)
"""Both sides of the comparison: label, key, what is chosen at first."""


def draw_view(live: Live, last: sampling.Stage, picked: int, name_of: Names) -> None:
    """One draw on the line of all shares, then a thousand beside the theory."""
    numbers = lab.uniforms(live.seed, DRAWS)
    cumulative_bar(last.probabilities, numbers[0], picked, name_of, key="draw_line")
    seeds = range(live.seed + 1, live.seed + 6)
    others = [
        (seed, name_of(sampling.draw(last.probabilities, lab.uniforms(seed, 1)[0])))
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
    _, other, problem = lab.other_prompt(live.model.source, second)
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
    rows = [sampling.final_probabilities(logits, s, live.ids) for _, s in chosen]
    likeliest = np.argsort(-np.maximum(*rows), kind="stable")[:10]
    ids = [int(i) for i in likeliest if max(row[i] for row in rows) > 0]
    high = float(max(row.max() for row in rows))
    for side, column, (name, _), row in zip("AB", columns, chosen, rows, strict=True):
        count = int((row > 0).sum())
        title = f"{side}, {name}: {count:,} token{'s' * (count != 1)} can be drawn"
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
    """Write with A and with B from the same seed; what is there when Stop is pressed stays."""
    request = (live.model.source, live.ids, live.seed, tuple(settings for _, settings in chosen))
    kept = st.session_state.setdefault(TEXTS, {"request": None, "tokens": [[], []]})
    with st.container(horizontal=True):
        start = st.button("Write 40 tokens with both", key="ab_write", icon=":material/edit_note:")
        st.button("Stop", key="ab_stop", icon=":material/stop:")
    places = [column.empty() for column in columns]
    if start:
        kept.update(request=request, tokens=[[], []])
        for number, (_, settings) in enumerate(chosen):
            for step in lab.written(live, settings, 40):
                kept["tokens"][number].append((step.id, step.data))
                places[number].html(written_line(live.request.prompt, kept["tokens"][number]))
    elif kept["request"] == request:
        for number, place in enumerate(places):
            place.html(written_line(live.request.prompt, kept["tokens"][number]))


def sharpness_part(live: Live) -> None:
    """The recorded measurement, or the running model's own on demand."""
    key = f"sharpness_{live.model.source}"
    with st.container(horizontal=True, vertical_alignment="center"):
        again = st.button("Measure again with this model", key="measure_sharpness",
                          icon=":material/refresh:")  # fmt: skip
        st.button("Stop", key="sharpness_stop", icon=":material/stop:")
        start = time.perf_counter()
        if again:
            st.session_state[key] = lab.measure_sharpness(live)
    result = st.session_state.get(key)
    if result is None:
        st.caption("Recorded from the default model; its own script made it.")
        result = recorded()
    elif again:
        st.caption(f"Measured just now in {time.perf_counter() - start:.0f} s.")
    sharpness_words(result)
    sharpness_chart(result)
    with st.expander("All prompts", key="facts_open", on_change="rerun") as facts:
        if facts.open:
            fact_table(result)


def beam_part(live: Live, settings: sampling.SamplingSettings, name_of: Names) -> None:
    """Beam search as a tree, beside greedy and a sample."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="beam_controls"):
        width = int(widgets.slider(keys.limit(keys.BEAM_WIDTH)))
        tokens = int(widgets.slider(keys.limit(keys.BEAM_TOKENS)))
        penalty = float(widgets.slider(keys.limit(keys.BEAM_PENALTY)))
        start = st.button(
            "Search", key="beam_search", type="primary", icon=":material/account_tree:"
        )
    request = (live.model.source, live.ids, width, tokens, penalty)
    if start:
        trees = (lab.beams(live, width, tokens, penalty), lab.beams(live, 1, tokens, penalty))
        sample = list(lab.written(live, settings, tokens))
        st.session_state[BEAMS] = (request, trees, sample)
    kept = st.session_state.get(BEAMS)
    if kept is None or kept[0] != request:
        st.info("Choose the width and press Search: the model reads every open continuation.")
        return
    (tree, greedy), sample = kept[1], kept[2]
    chart(tree_figure(tree, name_of), key="beams", alt="The tree of the beam search")
    decode = live.model.tokenizer.decode
    rows = [
        (way, visible(decode(h.ids)), h.total, len(h.ids), h.score)
        for way, found in (("beams: the winner", tree), ("greedy", greedy))
        for h in found.hypotheses[:1]
    ]
    total = float(sum(np.log(max(step.raw_probability, 1e-45)) for step in sample))
    text = visible(decode([step.id for step in sample]))
    rows.append(
        ("a sample, these settings", text, total, len(sample), total / len(sample) ** penalty)
    )
    comparison_table(rows)
    score_words(penalty)
