"""Comparing choices that were made from numbers computed in two ways, or on two machines.

Two right ways to compute the same logits differ in their last digits: with a cache and without
it, one row at a time and many, another processor's kernels. Numbers are compared with a tolerance;
a choice between two of them (the best token, a drawn one, an order) may then fall the other way
where they are nearly equal. The functions here accept that, and say how near is near.
"""

from dataclasses import replace

import numpy as np
import torch

from engine.sampling.chain import final_probabilities, run_chain

LOGITS = 1e-3
"""How far apart two logits may be for either to be taken for the larger one. Two ways to compute
the same logits differ by less than 1e-4 on the tiny models and on the default one."""

SHARES = 1e-4
"""How far from the edge of its share of [0, 1) a drawn token's u may lie."""


def assert_best(token_id, scores, near=LOGITS):
    """The token has the best of the scores `[V]`, or one that is nearly as good."""
    scores = np.asarray(scores)
    assert scores[token_id] >= scores.max() - near, (
        f"{token_id} has {scores[token_id]} and {int(scores.argmax())} {scores.max()}"
    )


def assert_ranking(ids, scores, near=LOGITS):
    """The ids are those of the best scores, best first; nearly equal ones in any order."""
    scores, ids = np.asarray(scores), list(ids)
    assert len(set(ids)) == len(ids)
    best = np.sort(scores)[::-1][: len(ids)]
    np.testing.assert_allclose(scores[ids], best, rtol=0, atol=near)


def assert_drawn(token_id, probabilities, u, near=SHARES):
    """The token's share of [0, 1), in the order of the ids, holds u, or ends very near to it."""
    ends = np.cumsum(np.asarray(probabilities, dtype=np.float64))
    ends /= ends[-1]
    start = ends[token_id - 1] if token_id else 0.0
    assert start - near <= u <= ends[token_id] + near, (
        f"{token_id} has [{start}, {ends[token_id]}), but u is {u}"
    )


def assert_same_text(model, prompt, found, expected, settings, u=()):
    """Two texts are the same up to the first choice that could fall either way.

    Args:
        model: The model that wrote both.
        prompt: The ids before both.
        found: The ids of one text.
        expected: Those of the other.
        settings: What both were written with.
        u: The uniform number behind each token; not needed at temperature 0.
    """
    found, expected = list(found), list(expected)
    pairs = enumerate(zip(found, expected, strict=False))
    place = next((place for place, (one, other) in pairs if one != other), None)
    if place is None:
        assert len(found) == len(expected)
        return
    context = [*prompt, *expected[:place]]
    with model.lock, torch.inference_mode():
        logits = model.network(torch.tensor([context])).logits[0, -1].float().numpy()
    if settings.temperature == 0:
        scores = run_chain(logits, replace(settings, temperature=1.0), context)[-1].logits
        assert_best(found[place], scores)
        assert_best(expected[place], scores)
    else:
        probabilities = final_probabilities(logits, settings, context)
        assert_drawn(found[place], probabilities, u[place])
        assert_drawn(expected[place], probabilities, u[place])
