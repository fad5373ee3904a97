"""Directions of vectors: their length set to 1, and the cosine between every two of them."""

from __future__ import annotations

import numpy as np

from engine.basics.arrays import Array, frozen


def unit_rows(rows: Array) -> Array:
    """Return rows `[..., D]` scaled to length 1; a row of zeros stays zeros."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Array = rows / np.maximum(lengths, 1e-12)
    return scaled


def cosines(rows: Array) -> Array:
    """Return the cosine between every two of some rows `[N, D]`, as `[N, N]`."""
    units = unit_rows(rows)
    return frozen(np.clip(units @ units.T, -1.0, 1.0))
