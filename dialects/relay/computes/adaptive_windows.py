"""The windows of adaptive pools, whose number is given."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.topi.build import Body, Number
from xrelay.dialects.topi.named.window import TAPS
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.upstream.arith_extras import IndexCastOp
from xrelay.index_algebra.dims import Dim


class AdaptiveWindows:
    """The windows over the axes `letters` of the first operand, in its layout."""

    def __init__(self, build: TopiBuilder, letters: str, layout: Layout, out_layout: Layout):
        self._build, self._data = build, build.operand(0)
        target = out_layout.primal_extents(build.result_shape)
        self._places = {layout.index(letter): letter for letter in letters}
        self.extents = build.shape(self._data)
        self.shape = [
            target[self._places[axis]] if axis in self._places else extent for axis, extent in enumerate(self.extents)
        ]

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

    def folded(self, label: str, first: Number, fold: Callable[[Body, SSAValue, SSAValue], SSAValue]) -> SSAValue:
        """Builds a fold over the elements of each window, in the layout of the data."""
        element = self._build.element(self._data)

        def body(b: Body) -> SSAValue:
            at, insides = [*b.spatial], list[AffineExpr]()
            for axis, tap in zip(self._places, b.reduction, strict=True):
                begin, end = self.bounds(b, axis)
                at[axis] = begin + tap
                insides.append(end - at[axis] - 1)
            inside = b.in_bounds(insides, [self.extents[axis] for axis in self._places])
            value = b.guard(inside, element, lambda: b.read(self._data, *at), lambda: b.constant(first, element))
            return fold(b, b.accumulators[0], value)

        reduce = {TAPS[letter]: self.most(axis) for axis, letter in self._places.items()}
        return self._build.compute(label, self.shape, element, body, reduce=reduce, init=[first])

    def size(self, b: Body) -> SSAValue:
        """Returns the number of elements of the current window in the element type of the data."""
        total = b.constant(1, IndexType())
        for axis in self._places:
            begin, end = self.bounds(b, axis)
            total = b.times(total, b.index(end - begin))
        return convert_scalar(b, b.add(IndexCastOp(total, i64)), self._build.element(self._data))
