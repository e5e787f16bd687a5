"""A convolution with taps at offsets from an operand: a table of all taps, and their sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.scalars import as_number
from xrelay.dialects.relay.ops.nn_deformable_conv import DeformableConv2DOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.image_crop import between_taps, taps_around
from xrelay.lowering.relay_to_topi.registry import implements


@implements(DeformableConv2DOp, "nn.deformable_conv2d.generic")
@in_single
def build_deformable_conv2d(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits a table of taps (batch, channels, taps, rows, columns), and the sums over those of a group."""
    op, weight = cast(DeformableConv2DOp, emitter.op), emitter.operand(2)
    filters, depth, rows, columns = (shape_of(weight)[axis] for axis in op.weight_axes)
    taps, real = _Taps(emitter, op, columns, rows * columns).table(), element_of(weight)
    element, per_group = emitter.result_type.element_type, filters // emitter.integer("groups")

    def add(b: Body) -> SSAValue:
        channel, row, column = (b.spatial[axis] for axis in op.image_axes)
        part, k, m = b.reduction
        at: list[IndexLike] = [0, 0, 0, 0]
        for axis, index in zip(op.weight_axes, (channel, part, k, m), strict=True):
            at[axis] = index
        own = b.scaled(b.quotient(channel, per_group), depth) + part
        tap = b.scaled(k, columns) + m
        return b.accumulate_product(
            b.accumulators[0], b.read(taps, b.spatial[0], own, tap, row, column), b.read(weight, *at)
        )

    names, reduce = variables("i", emitter.result_shape), {"c": depth, "k": rows, "l": columns}
    total = emitter.compute("deformable_conv2d", names, real, add, reduce=reduce, init=[0.0])
    if element == real:
        return [total]
    return [emitter.compute("rounded", names, element, lambda b: convert_scalar(b, b.read(total, *b.spatial), element))]


class _Taps:
    """The values of all taps at all positions of the window."""

    def __init__(self, emitter: TopiBuilder, op: DeformableConv2DOp, columns: Dim, count: Dim):
        self._emitter, self._op, self._columns, self._count = emitter, op, columns, count
        self._data, self._offset = emitter.operand(0), emitter.operand(1)
        self._real, shape = element_of(self._data), shape_of(self._data)
        self._channels, *self._extents = (shape[axis] for axis in op.image_axes)

    def table(self) -> SSAValue:
        """Returns the tensor (batch, channels, taps, rows, columns)."""
        _, height, width = (shape_of(self._offset)[axis] for axis in self._op.image_axes)
        batch = shape_of(self._data)[0]
        spatial = {"n": batch, "c": self._channels, "t": self._count, "y": height, "x": width}
        return self._emitter.compute("deformed_taps", spatial, self._real, self._read)

    def _laid_out(self, *at: IndexLike) -> list[IndexLike]:
        """Returns batch, channel, row and column indices in the order of the layout."""
        places: list[IndexLike] = [at[0], 0, 0, 0]
        for axis, index in zip(self._op.image_axes, at[1:], strict=True):
            places[axis] = index
        return places

    def _place(self, b: Body, axis: int, tap: AffineExpr) -> SSAValue:
        """Returns the coordinate of a tap along a spatial axis."""
        batch, channel, number, row, column = b.spatial
        strides, dilation, padding = (self._emitter.ints(name)[axis] for name in ("strides", "dilation", "padding"))
        plain = (row, column)[axis] * strides + tap * dilation - padding
        per_part = self._channels // self._emitter.integer("deformable_groups")
        entry = (b.scaled(b.quotient(channel, per_part), self._count) + number) * 2 + axis
        move = b.read(self._offset, *self._laid_out(batch, entry, row, column))
        return b.plus(as_number(b, plain, self._real), move)

    def _read(self, b: Body) -> SSAValue:
        """Interpolates bilinearly; 0 outside."""
        number = b.spatial[2]
        taps = b.quotient(number, self._columns), b.remainder(number, self._columns)
        places = [self._place(b, axis, taps[axis]) for axis in (0, 1)]
        zero, is_inside = b.constant(0, self._real), b.constant(1, i1)
        for place, extent in zip(places, self._extents, strict=True):
            for edge, word in ((zero, "oge"), (b.size(extent, self._real), "olt")):
                is_inside = b.add(arith.AndIOp(is_inside, b.add(arith.CmpfOp(place, edge, word))))
        return b.guard(is_inside, self._real, lambda: self._weighed(b, places), lambda: zero)

    def _weighed(self, b: Body, places: Sequence[SSAValue]) -> SSAValue:
        batch, channel, *_ = b.spatial
        rows, columns = (
            taps_around(b, place, extent, nearest=False) for place, extent in zip(places, self._extents, strict=True)
        )
        lines: list[SSAValue] = []
        for row in rows[0]:
            values = [b.read(self._data, *self._laid_out(batch, channel, row, column)) for column in columns[0]]
            lines.append(between_taps(b, self._within(b, values, places, 1), columns[1]))
        return between_taps(b, self._within(b, lines, places, 0), rows[1])

    def _within(self, b: Body, values: Sequence[SSAValue], places: Sequence[SSAValue], axis: int) -> list[SSAValue]:
        """Returns the two values around a coordinate; the second is 0 at the end of the axis."""
        near, far = values
        is_last = b.add(arith.CmpfOp(places[axis], b.size(self._extents[axis] - 1, self._real), "oge"))
        return [near, b.add(SelectOp(is_last, b.constant(0, self._real), far))]
