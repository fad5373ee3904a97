"""The inner loop of a matrix product over few rows, compiled for the processor that it runs on.

Numba turns these functions into machine code at the first import (a few seconds) and keeps it
beside them, or in the user's cache, for the next one.

Three things make it fast, all about reading each weight once and soon:

- A row of the weight is multiplied by up to five rows of the input while it is at hand.
- Two rows of the weight, far apart, are read side by side. A core waits for memory most of the
  time, and it can wait for two places at once.
- Each sum has a name of its own, so that it stays in a register. An array of sums would be written
  and read again at each step.

In all of these functions `w` is the weight `[out, in]`, `x` the input `[rows, in]`, `y` the output
`[rows, out]`; `g` and `h` are two rows of `w`, and `i` is the first row of `x` to take.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]

# `inline`: to call a function for each row of the weight would take as long as its sum.


@numba.njit(inline="always")
def one_row(w: Matrix, g: int, h: int, x: Matrix, i: int, y: Matrix) -> None:
    """Multiply one row of the input by two of the weight."""
    a = b = np.float32(0)
    for t in range(w.shape[1]):
        u = x[i, t]
        a += w[g, t] * u
        b += w[h, t] * u
    y[i, g], y[i, h] = a, b


@numba.njit(inline="always")
def two_rows(w: Matrix, g: int, h: int, x: Matrix, i: int, y: Matrix) -> None:
    """Multiply two rows of the input by two of the weight."""
    a0 = a1 = b0 = b1 = np.float32(0)
    for t in range(w.shape[1]):
        p, q = w[g, t], w[h, t]
        u0, u1 = x[i, t], x[i + 1, t]
        a0 += p * u0
        a1 += p * u1
        b0 += q * u0
        b1 += q * u1
    y[i, g], y[i + 1, g] = a0, a1
    y[i, h], y[i + 1, h] = b0, b1


@numba.njit(inline="always")
def four_rows(w: Matrix, g: int, h: int, x: Matrix, i: int, y: Matrix) -> None:
    """Multiply four rows of the input by two of the weight."""
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = np.float32(0)
    for t in range(w.shape[1]):
        p, q = w[g, t], w[h, t]
        u0, u1, u2, u3 = x[i, t], x[i + 1, t], x[i + 2, t], x[i + 3, t]
        a0 += p * u0
        a1 += p * u1
        a2 += p * u2
        a3 += p * u3
        b0 += q * u0
        b1 += q * u1
        b2 += q * u2
        b3 += q * u3
    y[i, g], y[i + 1, g], y[i + 2, g], y[i + 3, g] = a0, a1, a2, a3
    y[i, h], y[i + 1, h], y[i + 2, h], y[i + 3, h] = b0, b1, b2, b3


@numba.njit(inline="always")
def five_rows(w: Matrix, g: int, h: int, x: Matrix, i: int, y: Matrix) -> None:
    """Multiply five rows of the input by two of the weight."""
    a0 = a1 = a2 = a3 = a4 = b0 = b1 = b2 = b3 = b4 = np.float32(0)
    for t in range(w.shape[1]):
        p, q = w[g, t], w[h, t]
        u0, u1, u2, u3, u4 = x[i, t], x[i + 1, t], x[i + 2, t], x[i + 3, t], x[i + 4, t]
        a0 += p * u0
        a1 += p * u1
        a2 += p * u2
        a3 += p * u3
        a4 += p * u4
        b0 += q * u0
        b1 += q * u1
        b2 += q * u2
        b3 += q * u3
        b4 += q * u4
    y[i, g], y[i + 1, g], y[i + 2, g], y[i + 3, g], y[i + 4, g] = a0, a1, a2, a3, a4
    y[i, h], y[i + 1, h], y[i + 2, h], y[i + 3, h], y[i + 4, h] = b0, b1, b2, b3, b4


# `fastmath`: the compiler may add up a sum in another order, and so eight numbers at a time.
@numba.njit(
    "void(f4[:, ::1], f4[:, ::1], f4[:, ::1])",
    fastmath={"reassoc", "contract", "nsz"},
    nogil=True,
    cache=True,
)
def multiply(w: Matrix, x: Matrix, y: Matrix) -> None:
    """Write `x @ w.T` into `y`, with the interpreter free for others meanwhile."""
    outs, rows = w.shape[0], x.shape[0]
    half = (outs + 1) // 2
    for g in range(half):
        h = min(g + half, outs - 1)
        i = 0
        while i < rows:
            left = rows - i
            if left >= 5:
                five_rows(w, g, h, x, i, y)
                i += 5
            elif left == 4:
                four_rows(w, g, h, x, i, y)
                i += 4
            elif left >= 2:
                two_rows(w, g, h, x, i, y)
                i += 2
            else:
                one_row(w, g, h, x, i, y)
                i += 1
