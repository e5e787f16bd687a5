"""Adaptive pools: windows for given result extents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.ops.nn_adaptive_pool import ADAPTIVE_AVG_POOLS, ADAPTIVE_MAX_POOLS, AdaptivePoolOp
from xrelay.dialects.topi.build import Body, Number, variables
from xrelay.dialects.topi.named.pool import lowest
from xrelay.dialects.topi.named.window import TAPS
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import IndexCastOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.pool import Fold, of_any_number, relayout
from xrelay.lowering.relay_to_topi.registry import implements


class _Windows:
    """The windows of an adaptive pool, in the layout of its data."""

    def __init__(self, emitter: TopiBuilder):
        self._emitter, op = emitter, cast(AdaptivePoolOp, emitter.op)
        layout, out_layout = op.layouts
        data, target = shape_of(emitter.operand(0)), out_layout.primal_extents(emitter.result_shape)
        self.places: Mapping[int, str] = {layout.index(axis): axis for axis in op.AXES}
        self.shape = [target[self.places[k]] if k in self.places else extent for k, extent in enumerate(data)]
        self.extents = data

    def most(self, axis: int) -> Dim:
        """Returns an upper bound for the length of windows along an axis of the data."""
        extent, count = self.extents[axis], self.shape[axis]
        if isinstance(extent, int) and isinstance(count, int):
            return max((-(-(i + 1) * extent // count) - i * extent // count for i in range(count)), default=0)
        return extent if count == 0 or count == 1 else 1 if count == extent else (extent - 1) // count + 2

    def bounds(self, b: Body, axis: int) -> tuple[AffineExpr, AffineExpr]:
        """Returns the half-open range of the current window along an axis."""
        index, extent, count = b.spatial[axis], self.extents[axis], self.shape[axis]
        if extent == count:
            return index, index + 1
        last = b.scaled(index + 1, extent) + b.expr(count - 1)
        return b.quotient(b.scaled(index, extent), count), b.quotient(last, count)

    def folded(self, label: str, first: Number, fold: Fold) -> SSAValue:
        """Emits a fold over the elements of each window."""
        data = self._emitter.operand(0)
        element, axes = element_of(data), list(self.places)

        def body(b: Body) -> SSAValue:
            at, insides = [*b.spatial], list[AffineExpr]()
            for axis, tap in zip(axes, b.reduction, strict=True):
                begin, end = self.bounds(b, axis)
                at[axis] = begin + tap
                insides.append(end - at[axis] - 1)
            inside = b.in_bounds(insides, [self.extents[axis] for axis in axes])
            value = b.guard(inside, element, lambda: b.read(data, *at), lambda: b.constant(first, element))
            return fold(b, b.accumulators[0], value)

        reduce = {TAPS[self.places[axis]]: self.most(axis) for axis in axes}
        names = variables("i", self.shape)
        return self._emitter.compute(label, names, element, body, reduce=reduce, init=[first])

    def size(self, b: Body) -> SSAValue:
        """Returns the number of elements of the current window in the data's element type."""
        total = b.constant(1, IndexType())
        for axis in self.places:
            begin, end = self.bounds(b, axis)
            total = b.times(total, b.index(end - begin))
        return convert_scalar(b, b.add(IndexCastOp(total, i64)), element_of(self._emitter.operand(0)))

    def laid_out(self, result: SSAValue) -> Sequence[SSAValue]:
        """Converts `result` from the data's layout to that of the op's result."""
        layout, out_layout = cast(AdaptivePoolOp, self._emitter.op).layouts
        return [result if layout == out_layout else relayout(self._emitter, result, layout, out_layout)]


@of_any_number
def build_adaptive_avg_pool(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Returns the sum of each window, divided by its size."""
    element, windows = element_of(emitter.operand(0)), _Windows(emitter)
    sums = windows.folded("adaptive_pool_sum", 0, lambda b, total, x: b.accumulate(total, x))
    names = variables("i", shape_of(sums))
    mean = emitter.compute(
        "adaptive_avg_pool", names, element, lambda b: b.divide(b.read(sums, *b.spatial), windows.size(b))
    )
    return windows.laid_out(mean)


def build_adaptive_max_pool(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Returns the greatest element of each window."""
    windows, first = _Windows(emitter), lowest(element_of(emitter.operand(0)))
    return windows.laid_out(windows.folded("adaptive_max_pool", first, lambda b, best, x: b.largest(best, x)))


for _op in ADAPTIVE_AVG_POOLS:
    implements(_op, f"{_op.relay_name().removeprefix('nn.')}.generic")(build_adaptive_avg_pool)
for _op in ADAPTIVE_MAX_POOLS:
    implements(_op, f"{_op.relay_name().removeprefix('nn.')}.generic")(build_adaptive_max_pool)
