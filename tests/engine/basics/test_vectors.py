"""Cosines are torch's, and a row of zeros has none."""

import numpy as np
import torch

from engine.basics.vectors import cosines, unit_rows


def test_cosines_are_torchs():
    rows = np.random.default_rng(1).normal(size=(6, 40)).astype(np.float32)
    tensor = torch.from_numpy(rows)
    expected = torch.cosine_similarity(tensor[:, None], tensor[None], dim=-1)
    np.testing.assert_allclose(cosines(rows), expected.numpy(), atol=1e-6)


def test_a_row_of_zeros_stays():
    rows = np.array([[0, 0], [3, 4]], dtype=np.float32)
    np.testing.assert_allclose(unit_rows(rows), [[0, 0], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(cosines(rows), [[0, 0], [0, 1]], atol=1e-6)
