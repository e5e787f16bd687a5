"""Indices of maxima: a fold with two accumulators, the greatest element so far and its index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.core.sliding_window import ImageOp
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_pool_indices import MAX_POOL_INDICES, MaxPoolIndicesOp
from xrelay.dialects.topi.build import Body, compute, is_unsigned, variables
from xrelay.dialects.topi.named.pool import lowest
from xrelay.dialects.topi.named.window import TAPS
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis
from xrelay.lowering.relay_to_topi.pool import relayout
from xrelay.lowering.relay_to_topi.registry import implements


def build_max_pool_indices(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the indices in the plain layout, converted to the layout of the result."""
    op = cast(MaxPoolIndicesOp, emitter.op)
    (layout, out_layout), plain = op.layouts, Layout.parse(op.image_axes)
    data = emitter.operand(0) if layout == plain else relayout(emitter, emitter.operand(0), layout, plain)
    window, sizes, column_major = op.window(op.sizes), shape_of(data)[2:], bool(op.column_major.value.data)
    extents = out_layout.primal_extents(emitter.result_shape)

    def number(b: Body) -> AffineExpr:
        return _number(b, taps_of(b, window), sizes, column_major)

    places = number_maxima(emitter, data, window, [extents[axis] for axis in op.AXES], number, i64)
    return [places if out_layout == plain else relayout(emitter, places, plain, out_layout)]


def number_maxima(
    emitter: TopiBuilder,
    data: SSAValue,
    window: Sequence[WindowAxis[int]],
    counts: Sequence[Dim],
    number: Callable[[Body], AffineExpr],
    type: IntegerType,
) -> SSAValue:
    """Returns the `number` of the first greatest tap of each window of plain data; -1 for windows without data.

    Each tap inside the image is compared with the greatest of the previous taps.
    """
    element, (batch, channels, *sizes) = element_of(data), shape_of(data)
    first = lowest(element)

    def fill(b: Body) -> list[SSAValue]:
        best, found = b.accumulators
        taps = taps_of(b, window)
        inside = b.in_bounds(taps, sizes)
        value = b.guard(
            inside, element, lambda: b.read(data, *b.spatial[:2], *taps), lambda: b.constant(first, element)
        )
        here = b.add(arith.IndexCastOp(b.index(number(b)), type))
        nothing = b.add(arith.CmpiOp(found, b.constant(-1, type), "eq"))
        taken = b.add(arith.AndIOp(inside, b.add(arith.OrIOp(nothing, _greater(b, value, best)))))
        return [b.add(arith.SelectOp(taken, value, best)), b.add(arith.SelectOp(taken, here, found))]

    letters = cast(ImageOp, emitter.op).AXES
    reduce: dict[str, Dim] = {TAPS[letter]: axis.size for letter, axis in zip(letters, window, strict=True)}
    names = variables("i", [batch, channels, *counts])
    fold = compute("max_pool_indices", names, [element, type], fill, reduce=reduce, init=[first, -1])
    return emitter.insert(fold).results[1]


def taps_of(b: Body, window: Sequence[WindowAxis[int]]) -> list[AffineExpr]:
    """Returns the indices in the image of the current tap of the current window."""
    return [axis.place(at, tap) for axis, at, tap in zip(window, b.spatial[2:], b.reduction, strict=True)]


def _number(b: Body, at: Sequence[AffineExpr], sizes: Sequence[Dim], column_major: bool) -> AffineExpr:
    """Returns the linear index of an element of an image of `sizes`."""
    rows = list(zip(at, sizes, strict=True))
    number: AffineExpr = AffineConstantExpr(0)
    for index, size in reversed(rows) if column_major else rows:
        number = b.scaled(number, size) + index
    return number


def _greater(b: Body, value: SSAValue, best: SSAValue) -> SSAValue:
    """Returns whether an element is greater than the greatest of the previous ones; NaN is the greatest."""
    if not isinstance(value.type, AnyFloat):
        return b.add(arith.CmpiOp(value, best, "ugt" if is_unsigned(value.type) else "sgt"))
    greater = b.add(arith.CmpfOp(value, best, "ogt"))
    new_nan = b.add(arith.AndIOp(b.add(arith.CmpfOp(value, value, "uno")), b.add(arith.CmpfOp(best, best, "ord"))))
    return b.add(arith.OrIOp(greater, new_nan, i1))


for _op in MAX_POOL_INDICES:
    implements(_op, f"{_op.relay_name().removeprefix('nn.')}.generic")(build_max_pool_indices)
