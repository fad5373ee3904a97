"""The inner loops of a matrix product over few rows, compiled for the processor that they run on.

Numba turns these functions into machine code at the first import (a few seconds) and keeps it
beside them, or in the user's cache, for the next one.

What makes them fast:

- A piece of the weight is multiplied by up to five rows of the input while it is at hand. More
  rows are taken five at a time; the weight is then still in the processor's nearest cache.
- Four places of the weight, far apart, are read side by side. A core waits for memory most of the
  time, and it can wait for several places at once; and four sums grow without waiting for each
  other's last addition.

What makes them say the same: each output of each row is summed in one order, written down with
`engine.network.lanes`, whatever other rows stand beside it. So a row's result is bit for bit the
same alone and in any batch.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from engine.network.lanes import LANES, add_products, floats, put_totals, rows

Matrix = npt.NDArray[np.float32]

LANES_CHECKSUM = 4185312928
"""CRC-32 of lanes.py. Numba compiles anew when this file changes, but looks at no other: with this
number here a change there is one here too. A test says what it should be."""

ONE, TWO, THREE, FOUR, FIVE = (0,), (0, 0), (0,) * 3, (0,) * 4, (0,) * 5
"""How many rows of the input a loop takes at once, as Numba can know it in advance."""


@numba.njit()
def multiply_four(w: Matrix, x: Matrix, y: Matrix, e: int, far: int, i: int, pattern: Any) -> None:
    """Multiply four rows of the weight, `far` apart from e on, by those of the input from i on."""
    outs, ins = w.shape
    f, g, h = min(e + far, outs - 1), min(e + 2 * far, outs - 1), min(e + 3 * far, outs - 1)
    whole = ins // LANES * LANES
    a = b = c = d = rows(pattern)
    for t in range(0, whole, LANES):
        a = add_products(a, floats(w, e, t), x, i, t)
        b = add_products(b, floats(w, f, t), x, i, t)
        c = add_products(c, floats(w, g, t), x, i, t)
        d = add_products(d, floats(w, h, t), x, i, t)
    put_totals(y, i, e, a)
    put_totals(y, i, f, b)
    put_totals(y, i, g, c)
    put_totals(y, i, h, d)


@numba.njit()
def add_ends(w: Matrix, x: Matrix, y: Matrix, whole: int) -> None:
    """Add to each sum what stands in the columns from `whole` on, fewer than a register holds."""
    for r in range(len(x)):
        for g in range(len(w)):
            for t in range(whole, w.shape[1]):
                y[r, g] += w[g, t] * x[r, t]


@numba.njit("void(f4[:, ::1], f4[:, ::1], f4[:, ::1])", nogil=True, cache=True)
def multiply(w: Matrix, x: Matrix, y: Matrix) -> None:
    """Write `x @ w.T` into `y`, with the interpreter free for others meanwhile."""
    count, far = len(x), (len(w) + 3) // 4
    for e in range(far):
        if count == 1:
            multiply_four(w, x, y, e, far, 0, ONE)
        elif count == 2:
            multiply_four(w, x, y, e, far, 0, TWO)
        elif count == 3:
            multiply_four(w, x, y, e, far, 0, THREE)
        elif count == 4:
            multiply_four(w, x, y, e, far, 0, FOUR)
        else:
            for i in range(0, count, 5):
                # The last five may begin among those before them: the same comes out once more.
                multiply_four(w, x, y, e, far, min(i, count - 5), FIVE)
    whole = w.shape[1] // LANES * LANES
    if whole < w.shape[1]:
        add_ends(w, x, y, whole)
