"""Figures and words of the LM head's and the sampling page: what is drawn and how much is sent."""

import html
import json

import numpy as np
import pytest

from components.kit.figure import payload
from components.lm_head.compare import shift_figure
from components.lm_head.scores import found, logit_histogram, mass_curve
from components.sampling.beam import places, tree_figure
from components.sampling.sweeps import nucleus_figure, temperature_figure
from engine.basics.distribution import histogram, mass_by_rank, softmax
from engine.generation.beam import BeamHypothesis, BeamNode, BeamTree
from engine.sampling.experiments import nucleus_sizes, temperature_sweep
from tests.tiny import tiny_tokenizer

LOGITS = (np.random.default_rng(2).standard_normal(49_152) * 3).astype(np.float32)
MARKUP = "<b>$x$ %{y}"


def test_figures_stay_small_and_names_are_literal():
    probabilities = softmax(LOGITS)
    mass = mass_by_rank(probabilities)
    sweep = temperature_sweep(LOGITS, np.linspace(0.05, 3, 60).tolist(), 5)
    masses = np.linspace(0, 1, 101).tolist()
    sizes = [(MARKUP, nucleus_sizes(LOGITS, masses))] * 2
    figures = [
        logit_histogram(histogram(LOGITS), [(MARKUP, 3.0)], title=MARKUP, key="a"),
        mass_curve(mass, title=MARKUP, key="b", marks=[(10, 0.5)]),
        temperature_figure(sweep, [MARKUP] * 5, title=MARKUP, key="c", at=1.0),
        nucleus_figure(masses, sizes, k=50, title=MARKUP, key="d"),
        shift_figure([(1, 0.5, 0.1), (2, 0.0, 0.3), (3, 0.2, 0.2)], lambda token_id: MARKUP),
        tree_figure(TREE, lambda token_id: MARKUP),
    ]
    for figure in figures:
        assert payload(figure) < 60_000
        # As JSON writes them: nothing of the markup is left for Plotly to read.
        text = json.dumps(figure.to_plotly_json(), default=str)
        assert "<b>" not in text
        assert "$x$" not in text
        assert "%{y}<" not in text.replace("%{y}<extra", "")


TREE = BeamTree(
    width=2,
    length_penalty=1.0,
    nodes=(
        BeamNode(0, None, 1, 5, -0.5, -0.5, "kept"),
        BeamNode(1, None, 1, 6, -1.0, -1.0, "kept"),
        BeamNode(2, None, 1, 7, -2.0, -2.0, "dropped"),
        BeamNode(3, 1, 2, 8, -0.1, -1.1, "finished"),
        BeamNode(4, 0, 2, 9, -0.9, -1.4, "finished"),
        BeamNode(5, 0, 2, 10, -3.0, -3.5, "ended too low"),
    ),
    hypotheses=(
        BeamHypothesis(3, (6, 8), -1.1, -0.55, False),
        BeamHypothesis(4, (5, 9), -1.4, -0.7, False),
    ),
)


def test_the_best_sum_of_each_step_stands_on_top():
    at = places(TREE)
    assert at[0] == (1, 0)
    assert at[2] == (1, 2)
    assert [at[i][1] for i in (3, 4, 5)] == [0, 1, 2]


def test_the_winning_path_is_drawn_apart():
    figure = tree_figure(TREE, str)
    assert "6 continuations looked at, 2 kept open" in figure.layout.title.text
    edges, winner = figure.data[0], figure.data[1]
    assert len([x for x in edges.x if x is not None]) == 24
    assert list(winner.y) == [0, 0, 1, 1, None, 1, 1, 0, 0, None]
    # No line runs where the names stand: it turns in the middle between two columns.
    turns = {x for x in (*edges.x, *winner.x) if x is not None and x % 1}
    assert turns == {0.5, 1.5}
    shown = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert shown == ["the winner", "kept open", "finished", "dropped", "ended, but too low"]


def test_nucleus_figure_never_explodes_its_axis():
    masses = [0.0, 0.5, 1.0]
    figure = nucleus_figure(masses, [("a", np.array([1, 3, 9]))], k=50, title="t", key="k")
    low, high = figure.layout.yaxis.range
    assert low < 0 < high < 2.5


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("#5", ""),
        ("#384", "ids go from 0 to 383"),
        ("#x", "There is no token #x"),
        (" the", ""),
        ("the cat sat", "4 tokens: “t” + “he” + “ cat”"),
    ],
)
def test_a_token_is_found_by_text_and_by_id(wanted, words):
    tokenizer = tiny_tokenizer()
    token_id, sentence = found(wanted, tokenizer.encode, 384)
    assert words in sentence
    if wanted == "#5":
        assert token_id == 5
    elif wanted.startswith("#"):
        assert token_id is None
    else:
        assert token_id == tokenizer.encode(wanted)[0].id


def test_every_token_has_a_dot_after_either_prompt_and_the_title_names_the_farthest():
    figure = shift_figure([(1, 0.77, 0.001), (2, 0.05, 0.17), (3, 0.0, 0.02)], lambda i: f"t{i}")
    assert html.unescape(figure.layout.title.text).startswith("t1 goes from 77 % to 0.1 %")
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert len(dots) == 6
    assert sum(trace.showlegend for trace in dots) == 2
    assert all(low >= -7 for trace in dots for low in trace.x)
    assert list(figure.layout.yaxis.ticktext) == ["t1", "t2", "t3"]
