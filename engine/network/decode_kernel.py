"""A pass over a few tokens of several texts, compiled as a whole for the processor that it runs on.

One call reads the new tokens of all texts that are at hand, a row each, through all blocks of a
network of the Llama kind. Written in Python the same pass is some two thousand calls into torch,
and each of them hands Python's lock to whichever thread wants it and waits for its return: in a
class of thirty that costs more than the sums. Here the lock is free for the whole pass.

What a row gets never depends on the other rows. Matrix products give each row the same sums in the
same order (`engine.network.few_rows_kernel`), and everything else is done row by row.

The letters are those of `engine`: D width, F feed-forward width, H heads, G key/value heads, K head
size. R counts the rows, and `cache` is one text's keys and values `[2, L, G, room, K]`.
"""

from __future__ import annotations

from math import cos, exp, sin, sqrt
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from engine.network.few_rows_kernel import multiply

Matrix = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

FLOATS = types.Array(types.float32, 2, "C")
CACHE = types.Array(types.float32, 5, "C")
PRODUCT_CHECKSUM = 1615885847
"""CRC-32 of few_rows_kernel.py. Numba compiles anew when this file changes, but looks at no other:
with this number here a change there is one here too. A test says what it should be."""

LOOSE = ("reassoc", "contract", "nsz")
"""The compiler may add up a sum in another order; it is the same order in every call."""


@numba.njit(fastmath=set(LOOSE))
def _norm(x: Matrix, weight: Matrix, eps: float, y: Matrix) -> None:
    """Write the RMSNorm of each row of `x` into `y`."""
    rows, width = x.shape
    for r in range(rows):
        total = np.float32(0)
        for d in range(width):
            total += x[r, d] * x[r, d]
        scale = np.float32(1 / sqrt(total / np.float32(width) + np.float32(eps)))
        for d in range(width):
            y[r, d] = weight[0, d] * (x[r, d] * scale)


@numba.njit(fastmath=set(LOOSE))
def _rotate(x: Matrix, heads: int, turn: Matrix) -> None:
    """Turn the pairs (i, i + K/2) of each head by the row's angles, given as cosines and sines."""
    half = turn.shape[1] // 2
    for r in range(x.shape[0]):
        for head in range(heads):
            first = head * 2 * half
            for i in range(half):
                a, b = x[r, first + i], x[r, first + half + i]
                c, s = turn[r, i], turn[r, half + i]
                x[r, first + i] = a * c - b * s
                x[r, first + half + i] = b * c + a * s


@numba.njit(fastmath=set(LOOSE))
def _turns(positions: Integers, speeds: Matrix, factor: float) -> Matrix:
    """Return the cosines and sines `[R, K]` of each row's position."""
    half = speeds.shape[1]
    turn = np.empty((len(positions), 2 * half), np.float32)
    for r in range(len(positions)):
        for i in range(half):
            angle = np.float32(positions[r]) * speeds[0, i]
            turn[r, i] = np.float32(cos(angle)) * np.float32(factor)
            turn[r, half + i] = np.float32(sin(angle)) * np.float32(factor)
    return turn


@numba.njit(fastmath=set(LOOSE))
def _attend(
    q: Matrix,
    row: int,
    keys: npt.NDArray[np.float32],
    values: npt.NDArray[np.float32],
    tokens: int,
    scale: float,
    out: Matrix,
) -> None:
    """Attend from one row to the first `tokens` keys `[G, room, K]` of its own text."""
    groups, _, size = keys.shape
    heads = q.shape[1] // size
    shared = heads // groups
    scores = np.empty(tokens, np.float32)
    for head in range(heads):
        g, first = head // shared, head * size
        highest = np.float32(-np.inf)
        for s in range(tokens):
            score = np.float32(0)
            for i in range(size):
                score += q[row, first + i] * keys[g, s, i]
            score *= np.float32(scale)
            scores[s] = score
            highest = max(highest, score)
        total = np.float32(0)
        for i in range(size):
            out[row, first + i] = 0
        for s in range(tokens):
            weight = np.float32(exp(scores[s] - highest))
            total += weight
            for i in range(size):
                out[row, first + i] += weight * values[g, s, i]
        for i in range(size):
            out[row, first + i] /= total


@numba.njit(fastmath=set(LOOSE))
def _gated(gate: Matrix, up: Matrix) -> None:
    """Replace `gate` by `silu(gate) * up`."""
    for r in range(gate.shape[0]):
        for f in range(gate.shape[1]):
            z = gate[r, f]
            gate[r, f] = z / (np.float32(1) + np.float32(exp(-z))) * up[r, f]


@numba.njit(fastmath=set(LOOSE))
def _add(x: Matrix, y: Matrix) -> None:
    """Add `y` to `x`."""
    for r in range(x.shape[0]):
        for d in range(x.shape[1]):
            x[r, d] += y[r, d]


@numba.njit(fastmath=set(LOOSE))
def _take(table: Matrix, rows: Integers) -> Matrix:
    """Return some rows of a table."""
    taken = np.empty((len(rows), table.shape[1]), np.float32)
    for r in range(len(rows)):
        for d in range(table.shape[1]):
            taken[r, d] = table[rows[r], d]
    return taken


@numba.njit(fastmath=set(LOOSE))
def _keep(
    x: Matrix, part: int, layer: int, texts: Integers, positions: Integers, caches: Any
) -> None:
    """Keep the keys (part 0) or values (part 1) `[R, G·K]` of a layer, each in its own text."""
    for r in range(x.shape[0]):
        cache = caches[texts[r]]
        size = cache.shape[4]
        for g in range(cache.shape[2]):
            for i in range(size):
                cache[part, layer, g, positions[r], i] = x[r, g * size + i]


@numba.njit(
    "void(f4[:, ::1], ListType(f4[:, ::1]), ListType(f4[:, ::1]), f4[:, ::1], UniTuple(f8, 3),"
    "UniTuple(i8[::1], 4), ListType(f4[:, :, :, :, ::1]), f4[:, ::1], f4[:, ::1])",
    fastmath=set(LOOSE),
    nogil=True,
    cache=True,
)
def read_tokens(
    table: Matrix,
    matrices: Any,
    norms: Any,
    speeds: Matrix,
    numbers: tuple[float, float, float],
    rows: tuple[Integers, Integers, Integers, Integers],
    caches: Any,
    states: Matrix,
    logits: Matrix,
) -> None:
    """Read new tokens, keep their keys and values, and write what the model says after them.

    Args:
        table: The token embeddings `[V, D]`.
        matrices: Per layer W_Q, W_K, W_V, W_O, gate, up and down, each `[out, in]`; then the LM
            head.
        norms: The weights `[1, D]` of two RMSNorms per layer, and of the final one.
        speeds: By how many radians each pair turns from one token to the next, `[1, K/2]`.
        numbers: The norms' epsilon, the factor on `q·k`, and the factor on cosines and sines.
        rows: For each row its token's id, its text's place in `caches` and its position there;
            then the rows after which logits are wanted.
        caches: Keys and values of each text, with room for the new tokens.
        states: Takes what the LM head would read after each row, `[R, D]`.
        logits: Takes the logits `[wanted, V]`.
    """
    eps, scale, factor = numbers
    ids, texts, positions, wanted = rows
    layers, width = len(matrices) // 7, table.shape[1]
    size = caches[0].shape[4]
    heads, groups = matrices[0].shape[0] // size, matrices[1].shape[0] // size
    x, turn = _take(table, ids), _turns(positions, speeds, factor)
    given = np.empty((len(ids), width), np.float32)
    q = np.empty((len(ids), heads * size), np.float32)
    k = np.empty((len(ids), groups * size), np.float32)
    v = np.empty((len(ids), groups * size), np.float32)
    mixed = np.empty((len(ids), heads * size), np.float32)
    gate = np.empty((len(ids), matrices[4].shape[0]), np.float32)
    up = np.empty((len(ids), matrices[4].shape[0]), np.float32)
    for layer in range(layers):
        first = 7 * layer
        _norm(x, norms[2 * layer], eps, given)
        multiply(matrices[first], given, q)
        multiply(matrices[first + 1], given, k)
        multiply(matrices[first + 2], given, v)
        _rotate(q, heads, turn)
        _rotate(k, groups, turn)
        _keep(k, 0, layer, texts, positions, caches)
        _keep(v, 1, layer, texts, positions, caches)
        for r in range(len(ids)):
            cache = caches[texts[r]]
            _attend(q, r, cache[0, layer], cache[1, layer], positions[r] + 1, scale, mixed)
        multiply(matrices[first + 3], mixed, given)
        _add(x, given)
        _norm(x, norms[2 * layer + 1], eps, given)
        multiply(matrices[first + 4], given, gate)
        multiply(matrices[first + 5], given, up)
        _gated(gate, up)
        multiply(matrices[first + 6], gate, given)
        _add(x, given)
    _norm(x, norms[2 * layers], eps, states)
    multiply(matrices[7 * layers], _take(states, wanted), logits)
