"""The places of maxima: a fold with two accumulators, the greatest element so far and its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, i1, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_pool_indices import MAX_POOL_INDICES, MaxPoolIndicesOp
from xrelay.dialects.topi.build import Body, compute, is_unsigned, variables
from xrelay.dialects.topi.named.pool import lowest
from xrelay.dialects.topi.named.window import TAPS
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter, element_of
from xrelay.lowering.relay_to_topi.pool import relayout
from xrelay.lowering.relay_to_topi.strategies import implements


def build_max_pool_indices(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """Every tap inside the image is compared with the greatest before it."""
    op = cast(MaxPoolIndicesOp, emitter.op)
    (layout, out_layout), plain = op.layouts, Layout.parse(op.image_axes)
    data = emitter.operand(0) if layout == plain else relayout(emitter, emitter.operand(0), layout, plain)
    element, window, sizes = element_of(data), op.window(op.sizes), shape_of(data)[2:]
    extents = out_layout.primal_extents(emitter.result_shape)
    first = lowest(element)

    def fill(b: Body) -> list[SSAValue]:
        n, c, *at = b.spatial
        best, place = b.accumulators
        taps = [axis.place(index, tap) for axis, index, tap in zip(window, at, b.reduction, strict=True)]
        inside = b.in_bounds(taps, sizes)
        value = b.guard(inside, element, lambda: b.read(data, n, c, *taps), lambda: b.constant(first, element))
        here = b.add(arith.IndexCastOp(b.index(_number(b, taps, sizes, bool(op.column_major.value.data))), i64))
        nothing = b.add(arith.CmpiOp(place, b.constant(-1, i64), "eq"))
        taken = b.add(arith.AndIOp(inside, b.add(arith.OrIOp(nothing, _greater(b, value, best)))))
        return [b.add(arith.SelectOp(taken, value, best)), b.add(arith.SelectOp(taken, here, place))]

    shape = [extents[axis] for axis in op.image_axes]
    reduce: dict[str, Dim] = {TAPS[letter]: axis.size for letter, axis in zip(op.AXES, window, strict=True)}
    fold = compute("max_pool_indices", variables("i", shape), [element, i64], fill, reduce=reduce, init=[first, -1])
    places = emitter.insert(fold).results[1]
    return [places if out_layout == plain else relayout(emitter, places, plain, out_layout)]


def _number(b: Body, at: Sequence[AffineExpr], sizes: Sequence[Dim], column_major: bool) -> AffineExpr:
    """The number of an element of an image of `sizes`."""
    rows = list(zip(at, sizes, strict=True))
    number: AffineExpr = AffineConstantExpr(0)
    for index, size in reversed(rows) if column_major else rows:
        number = b.scaled(number, size) + index
    return number


def _greater(b: Body, value: SSAValue, best: SSAValue) -> SSAValue:
    """Whether an element is greater than the greatest before it; NaN is greater than any number."""
    if not isinstance(value.type, AnyFloat):
        return b.add(arith.CmpiOp(value, best, "ugt" if is_unsigned(value.type) else "sgt"))
    greater = b.add(arith.CmpfOp(value, best, "ogt"))
    new_nan = b.add(arith.AndIOp(b.add(arith.CmpfOp(value, value, "uno")), b.add(arith.CmpfOp(best, best, "ord"))))
    return b.add(arith.OrIOp(greater, new_nan, i1))


for _op in MAX_POOL_INDICES:
    implements(_op, f"{_op.relay_name().removeprefix('nn.')}.generic")(build_max_pool_indices)
