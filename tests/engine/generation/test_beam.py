"""Beam search against transformers' own, sequence for sequence and score for score."""

from itertools import pairwise

import pytest
import torch

from engine.basics.errors import EngineError
from engine.generation.beam import beam_search
from engine.generation.loop import generate
from engine.sampling.chain import SamplingSettings
from tests.near import assert_same_text

PROMPT = [10, 40, 77, 120, 9]


def reference(model, ids, width, tokens, penalty):
    """The sequences after the prompt and their scores, from transformers."""
    with torch.inference_mode():
        output = model.network.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones((1, len(ids)), dtype=torch.long),
            num_beams=width,
            num_return_sequences=width,
            do_sample=False,
            max_new_tokens=tokens,
            length_penalty=penalty,
            early_stopping=False,
            eos_token_id=sorted(model.stop_ids),
            pad_token_id=0,
            output_scores=True,
            return_dict_in_generate=True,
        )
    sequences = output.sequences[:, len(ids) :].tolist()
    scores = [0.0] * width if width == 1 else output.sequences_scores.tolist()
    return sequences, scores


def cut(sequence, stop_ids):
    """A sequence up to its end token; what follows is padding."""
    for place, token in enumerate(sequence):
        if token in stop_ids:
            return tuple(sequence[: place + 1])
    return tuple(sequence)


def with_ends(model, ids):
    """The same model with end tokens that it likes, so that searches end early."""
    from dataclasses import replace

    return replace(model, stop_ids=frozenset(ids))


def likely_ends(model, ids, count):
    """Tokens that the greedy continuation comes to after a few steps."""
    steps = generate(model, ids, SamplingSettings(temperature=0), max_new_tokens=8, seed=0)
    return [step.id for step in steps][2 : 2 + count]


def nearly_tied(tree, near=1e-5):
    """Whether two continuations were so close that either could have been taken for the better.

    Sums of log-probabilities computed in two ways differ by about 1e-6.
    """
    rows = [[h.score for h in tree.hypotheses]]
    for depth in {node.depth for node in tree.nodes}:
        rows.append([node.total for node in tree.nodes if node.depth == depth])
    return any(b - a < near for row in rows for a, b in pairwise(sorted(row)))


def assert_same(model, ids, width, tokens, penalty):
    tree = beam_search(model, ids, width=width, max_new_tokens=tokens, length_penalty=penalty)
    sequences, scores = reference(model, ids, width, tokens, penalty)
    if nearly_tied(tree):
        return tree
    assert [h.ids for h in tree.hypotheses] == [cut(s, model.stop_ids) for s in sequences]
    if width > 1:
        assert [h.score for h in tree.hypotheses] == pytest.approx(scores, rel=1e-5, abs=1e-6)
    return tree


@pytest.mark.parametrize("penalty", [-1.0, 0.0, 1.0, 2.0])
@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_sequences_and_scores_are_those_of_transformers(tiny_model, width, penalty):
    assert_same(tiny_model("llama"), PROMPT, width, 8, penalty)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [-1.0, 0.0, 1.0, 2.0])
@pytest.mark.parametrize("width", [2, 3, 5])
@pytest.mark.parametrize("count", [1, 3])
def test_early_ends_are_those_of_transformers(tiny_model, width, penalty, count):
    model = tiny_model("llama")
    early = 0
    for seed in range(2):
        ids = [(seed * 37 + step * 11) % 300 + 5 for step in range(6)]
        ending = with_ends(model, likely_ends(model, ids, count))
        tree = assert_same(ending, ids, width, 12, penalty)
        early += any(h.ended for h in tree.hypotheses)
    if penalty <= 1:  # a larger one favours long continuations
        assert early, "no search of this test ended early"


@pytest.mark.parametrize("family", ["gpt2", "qwen3", "gpt_neox", "gemma2", "mistral", "phi3"])
def test_every_family_keeps_its_cache_with_its_beam(tiny_model, family):
    assert_same(tiny_model(family), list(range(20, 40)), 3, 6, 1.0)


def test_width_1_is_greedy(tiny_model):
    model = tiny_model("llama")
    tree = beam_search(model, PROMPT, width=1, max_new_tokens=10)
    greedy = generate(model, PROMPT, SamplingSettings(temperature=0), max_new_tokens=10, seed=0)
    settings, found = SamplingSettings(temperature=0), tree.hypotheses[0].ids
    assert_same_text(model, PROMPT, found, [step.id for step in greedy], settings)


def test_the_tree_adds_up(tiny_model):
    model = tiny_model("llama")
    tree = beam_search(model, PROMPT, width=3, max_new_tokens=5, length_penalty=2.0)
    for node in tree.nodes:
        above = 0.0 if node.parent is None else tree.nodes[node.parent].total
        assert node.total == pytest.approx(above + node.log_prob, abs=1e-5)
        assert node.depth == len(tree.path(node.index))
        if node.parent is not None:
            assert tree.nodes[node.parent].state == "kept"
    for depth in range(1, 5):
        assert sum(n.state == "kept" for n in tree.nodes if n.depth == depth) == 3
    best = tree.hypotheses[0]
    assert tuple(tree.nodes[n].token_id for n in tree.path(best.node)) == best.ids
    assert best.score == pytest.approx(best.total / 25)
    assert not best.ended


def test_progress_and_stop(tiny_model):
    depths = []
    tree = beam_search(
        tiny_model("llama"),
        PROMPT,
        width=2,
        max_new_tokens=12,
        progress=depths.append,
        cancelled=lambda: len(depths) == 3,
    )
    assert depths == [1, 2, 3]
    assert tree.cancelled
    assert max(node.depth for node in tree.nodes) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"width": 0}, "width must be from 1 to 8, but is 0"),
        ({"width": 9}, "but is 9"),
        ({"max_new_tokens": 0}, "budget must be at least 1"),
        ({"max_new_tokens": 10**6}, "leaves no room for 1000000 more"),
        ({"ids": []}, "no tokens"),
        ({"ids": [10**6]}, "no token id 1000000"),
    ],
)
def test_what_cannot_be_is_named(tiny_model, arguments, words):
    wanted = {"ids": PROMPT, "width": 2, "max_new_tokens": 3} | arguments
    with pytest.raises(EngineError, match=words):
        beam_search(tiny_model("llama"), wanted.pop("ids"), **wanted)


@pytest.mark.real
def test_the_real_model_agrees(real_model):
    ids = [token.id for token in real_model.tokenizer.encode("The capital of Australia is")]
    assert_same(real_model, ids, 3, 5, 1.0)
