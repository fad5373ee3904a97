"""Scores, bounds, masks and softmax of attention are torch's, one head at a time."""

import numpy as np
import pytest
import torch

from engine.basics.attention_scores import attention_pattern, attention_scores


@pytest.mark.parametrize("softcap", [None, 1.5])
@pytest.mark.parametrize(("heads", "groups"), [(4, 4), (6, 2)])
def test_scores_and_pattern_are_those_of_each_head_alone(heads, groups, softcap):
    random = np.random.default_rng(2)
    q = random.normal(size=(heads, 5, 8)).astype(np.float32)
    k = random.normal(size=(groups, 7, 8)).astype(np.float32)
    mask = np.tri(5, 7, k=2, dtype=bool)
    scores = attention_scores(q, k, 0.3, softcap, mask)
    pattern = attention_pattern(scores)
    assert scores.dtype == pattern.dtype == np.float32
    for head in range(heads):
        expected = torch.tensor(q[head]) @ torch.tensor(k[head // (heads // groups)]).T * 0.3
        if softcap is not None:
            expected = softcap * torch.tanh(expected / softcap)
        np.testing.assert_allclose(scores[head][mask], expected.numpy()[mask], atol=1e-5)
        expected = expected.masked_fill(~torch.tensor(mask), -torch.inf)
        np.testing.assert_allclose(pattern[head], expected.softmax(-1).numpy(), atol=1e-6)
    assert (scores[:, ~mask] == -np.inf).all()
