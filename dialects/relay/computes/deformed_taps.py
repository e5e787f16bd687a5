"""The taps of a convolution at positions shifted by an operand."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.interpolation import between_taps, taps_around
from xrelay.dialects.relay.computes.layouts import arranged
from xrelay.dialects.relay.computes.scalars import as_number
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim


class DeformedTaps:
    """The values of all taps at all positions of the window, for data and offsets, the first operands."""

    def __init__(self, build: TopiBuilder, image_axes: tuple[int, int, int], rows: Dim, columns: Dim):
        self._build, self._image_axes, self._columns, self._count = build, image_axes, columns, rows * columns
        self._data, self._offset = build.operand(0), build.operand(1)
        self._real, shape = build.element(self._data), build.shape(self._data)
        self._channels, *self._extents = (shape[axis] for axis in image_axes)

    def table(self) -> SSAValue:
        """Returns the tensor (batch, channels, taps, rows, columns)."""
        _, height, width = (self._build.shape(self._offset)[axis] for axis in self._image_axes)
        batch = self._build.shape(self._data)[0]
        spatial = {"n": batch, "c": self._channels, "t": self._count, "y": height, "x": width}
        return self._build.compute("deformed_taps", spatial, self._real, self._read)

    def _laid_out(self, batch: IndexLike, *at: IndexLike) -> list[IndexLike]:
        """Returns batch, channel, row and column indices in the order of the layout."""
        return arranged((0, *self._image_axes), (batch, *at))

    def _place(self, b: Body, axis: int, tap: AffineExpr) -> SSAValue:
        """Returns the coordinate of a tap along a spatial axis."""
        batch, channel, number, row, column = b.spatial
        strides, dilation, padding = (self._build.ints(name)[axis] for name in ("strides", "dilation", "padding"))
        plain = (row, column)[axis] * strides + tap * dilation - padding
        per_part = self._channels // self._build.integer("deformable_groups")
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
        rows, columns = (taps_around(b, place, extent) for place, extent in zip(places, self._extents, strict=True))
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
