"""Sixteen numbers side by side, for loops that Numba compiles: what the kernels are written in.

A processor multiplies and adds several numbers in one step. Left to itself a compiler decides how
many, and with that in which order a sum is taken, anew for each loop. The functions here say it:
`LANES` numbers at once, each product added to its own lane, in the order in which the calls stand.
So two loops written with them take a sum in the same order, and their results are equal bit for
bit. LLVM turns them into the registers that there are (one, two or four for sixteen numbers).

"Rows" stands for a tuple of such registers, one for each of the few rows that a loop works on at a
time; its length is known when the loop is compiled. `rows(pattern)` begins one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

LANES = 16

_INDEX = ir.IntType(32)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_CODES = ir.VectorType(ir.IntType(8), LANES)
_INTEGERS = ir.VectorType(_INDEX, LANES)
_UNDEFINED = ir.Constant(_FLOATS, ir.Undefined)

Built = tuple[Any, Callable[..., Any]]
"""A signature, and what writes the function's LLVM code."""


def compiled(write: Callable[..., Built]) -> Any:
    """Make a function for compiled loops of what writes its code; its first argument is Numba's."""
    return intrinsic(write)


class LanesType(types.Type):
    """The type of `LANES` float32 numbers in a register."""

    def __init__(self) -> None:
        """Name it."""
        super().__init__("lanes")


_lanes = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """How they are kept: as a vector of LLVM."""

    def __init__(self, manager: Any, kind: Any) -> None:
        """Say so."""
        super().__init__(manager, kind, _FLOATS)


@compiled
def rows(_: Any, pattern: Any) -> Built:
    """Return as many rows of zeros as the tuple `pattern` has members."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = [ir.Constant(_FLOATS, [0.0] * LANES)] * len(pattern)
        return context.make_tuple(builder, signature.return_type, zeros)

    return types.UniTuple(_lanes, len(pattern))(pattern), build


@compiled
def floats(_: Any, matrix: Any, i: Any, j: Any) -> Built:
    """Return the numbers `matrix[i, j : j + LANES]`."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, matrix, args[0], args[1:], _FLOATS), align=4)

    return _lanes(matrix, types.intp, types.intp), build


@compiled
def codes(_: Any, matrix: Any, i: Any, j: Any) -> Built:
    """Return the small integers `matrix[i, j : j + LANES]`, one byte each, as float32."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, matrix, args[0], args[1:], _CODES)
        integers = builder.sext(builder.load(place, align=1), _INTEGERS)
        return builder.sitofp(integers, _FLOATS)

    return _lanes(matrix, types.intp, types.intp), build


@compiled
def add_scaled(_: Any, sums: Any, numbers: Any, x: Any, i: Any, j: Any) -> Built:
    """Return the rows `sums[r] + numbers * x[i + r, j]`."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        before, factor, matrix, first, column = args

        def grown(r: int, row: Any) -> Any:
            row_of_x = builder.add(first, ir.Constant(first.type, r))
            place = _place(context, builder, x, matrix, [row_of_x, column], ir.FloatType())
            return _fused(builder, factor, _in_all_lanes(builder, builder.load(place)), row)

        return _each_row(context, builder, signature, before, grown)

    return sums(sums, numbers, x, types.intp, types.intp), build


@compiled
def add_products(_: Any, sums: Any, numbers: Any, x: Any, i: Any, j: Any) -> Built:
    """Return the rows `sums[r] + numbers * x[i + r, j : j + LANES]`, lane by lane."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        before, factor, matrix, first, column = args

        def grown(r: int, row: Any) -> Any:
            row_of_x = builder.add(first, ir.Constant(first.type, r))
            place = _place(context, builder, x, matrix, [row_of_x, column], _FLOATS)
            return _fused(builder, factor, builder.load(place, align=4), row)

        return _each_row(context, builder, signature, before, grown)

    return sums(sums, numbers, x, types.intp, types.intp), build


@compiled
def add_multiplied(_: Any, sums: Any, others: Any, numbers: Any) -> Built:
    """Return the rows `sums[r] + others[r] * numbers`, lane by lane."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        factors = cgutils.unpack_tuple(builder, args[1])

        def grown(r: int, row: Any) -> Any:
            return _fused(builder, factors[r], args[2], row)

        return _each_row(context, builder, signature, args[0], grown)

    return sums(sums, others, numbers), build


@compiled
def put(_: Any, y: Any, i: Any, j: Any, sums: Any) -> Built:
    """Write row r to `y[i + r, j : j + LANES]`."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for r, row in enumerate(cgutils.unpack_tuple(builder, args[3])):
            row_of_y = builder.add(args[1], ir.Constant(args[1].type, r))
            place = _place(context, builder, y, args[0], [row_of_y, args[2]], _FLOATS)
            builder.store(row, place, align=4)
        return context.get_dummy_value()

    return types.void(y, types.intp, types.intp, sums), build


@compiled
def put_totals(_: Any, y: Any, i: Any, j: Any, sums: Any) -> Built:
    """Add up the lanes of row r, by halves, and write the total to `y[i + r, j]`."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for r, row in enumerate(cgutils.unpack_tuple(builder, args[3])):
            row_of_y = builder.add(args[1], ir.Constant(args[1].type, r))
            place = _place(context, builder, y, args[0], [row_of_y, args[2]], ir.FloatType())
            builder.store(_total(builder, row), place)
        return context.get_dummy_value()

    return types.void(y, types.intp, types.intp, sums), build


def _each_row(
    context: Any, builder: Any, signature: Any, sums: Any, grown: Callable[[int, Any], Any]
) -> Any:
    """Return the rows `grown(r, sums[r])`."""
    old = cgutils.unpack_tuple(builder, sums)
    new = [grown(r, row) for r, row in enumerate(old)]
    return context.make_tuple(builder, signature.return_type, new)


def _place(context: Any, builder: Any, kind: Any, matrix: Any, index: Any, content: Any) -> Any:
    """Return where in memory `matrix[index]` begins, to be read or written as `content`."""
    parts = context.make_array(kind)(context, builder, matrix)
    place = cgutils.get_item_pointer(context, builder, kind, parts, index, wraparound=False)
    return builder.bitcast(place, ir.PointerType(content))


def _in_all_lanes(builder: Any, number: Any) -> Any:
    """Return a register with one number in each lane."""
    first = builder.insert_element(_UNDEFINED, number, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(first, _UNDEFINED, ir.Constant(_INTEGERS, [0] * LANES))


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return `a * b + c`, rounded once where the processor can and twice where it can't."""
    kind = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
    name = f"llvm.fmuladd.v{LANES}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, c])


def _total(builder: Any, row: Any) -> Any:
    """Return the sum of the lanes: the upper half is added to the lower, until one is left."""
    half = LANES // 2
    while half:
        upper = ir.Constant(_INTEGERS, [(lane + half) % LANES for lane in range(LANES)])
        row = builder.fadd(row, builder.shuffle_vector(row, _UNDEFINED, upper))
        half //= 2
    return builder.extract_element(row, ir.Constant(_INDEX, 0))
