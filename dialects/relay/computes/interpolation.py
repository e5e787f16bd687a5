"""Interpolation between elements, at the positions of deformed convolutions and at the coordinates of grids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float64Type, IndexType, f32, f64, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.layouts import arrange
from xrelay.dialects.relay.computes.resize import is_inside
from xrelay.dialects.relay.computes.scalars import clamp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim


def taps_around(b: Body, place: SSAValue, extent: Dim) -> tuple[list[AffineExpr], SSAValue]:
    """Returns the indices of the elements below and above a coordinate within an axis, and the weight of the second."""
    numbers, above = _neighbours(b, place, extent)
    return [_as_index(b, each) for each in numbers], above


def nearest_tap(b: Body, place: SSAValue, extent: Dim) -> AffineExpr:
    """Returns the index of the element nearest to a coordinate, the later of two equally near ones."""
    (number, following), above = _neighbours(b, place, extent)
    is_far = b.compare(above, "ge", 0.5)
    return _as_index(b, b.select(is_far, following, number))


def between_taps(b: Body, values: Sequence[SSAValue], weight: SSAValue) -> SSAValue:
    """Interpolates two values; `weight` is that of the second."""
    rest = b.minus(1, weight)
    return b.plus(b.times(values[0], rest), b.times(values[1], weight))


def _neighbours(b: Body, place: SSAValue, extent: Dim) -> tuple[list[SSAValue], SSAValue]:
    floor = b.floor(place)
    above, number = b.minus(place, floor), b.convert(floor, i64)
    return [number, b.minimum(b.plus(number, 1), b.size(extent - 1, i64))], above


def _as_index(b: Body, number: SSAValue) -> AffineExpr:
    return b.as_index(number)


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
        return arrange((0, *self._image_axes), (batch, *at))

    def _place(self, b: Body, axis: int, tap: AffineExpr) -> SSAValue:
        """Returns the coordinate of a tap along a spatial axis."""
        batch, channel, number, row, column = b.spatial
        strides, dilation, padding = (self._build.ints(name)[axis] for name in ("strides", "dilation", "padding"))
        plain = (row, column)[axis] * strides + tap * dilation - padding
        per_part = self._channels // self._build.integer("deformable_groups")
        entry = (b.scaled(b.quotient(channel, per_part), self._count) + number) * 2 + axis
        move = b.read(self._offset, *self._laid_out(batch, entry, row, column))
        return b.plus(b.number(plain, self._real), move)

    def _read(self, b: Body) -> SSAValue:
        """Interpolates bilinearly; 0 outside."""
        number = b.spatial[2]
        taps = b.quotient(number, self._columns), b.remainder(number, self._columns)
        places = [self._place(b, axis, taps[axis]) for axis in (0, 1)]
        zero, is_inside = b.constant(0, self._real), b.constant(1, i1)
        for place, extent in zip(places, self._extents, strict=True):
            for edge, word in ((zero, "oge"), (b.size(extent, self._real), "olt")):
                is_inside = b.logical_and(is_inside, b.add(arith.CmpfOp(place, edge, word)))
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
        is_last = b.compare(places[axis], "ge", b.size(self._extents[axis] - 1, self._real))
        return [near, b.select(is_last, 0, far)]


MAX_COORDINATE = 1 << 30
"""Coordinates farther outside are clamped to this."""

Tap = tuple[IndexLike, SSAValue, SSAValue]
"""An index, whether it is inside, and the weight of its element."""


class GridSamples:
    """The weighted sums for the points of a grid.

    The op has data (N, C, …) and a grid as operands, and the properties `padding_mode` and `align_corners`. Elements
    have a weight up to a distance of `reach`; with a reach of 0, the nearest element is taken. `coefficient` is that of
    the spline, for a reach of 2.
    """

    def __init__(self, build: TopiBuilder, reach: int, coefficient: float):
        self._data, grid, self._reach, self._coefficient = build.operand(0), build.operand(1), reach, coefficient
        self._sizes, element = shape_of(self._data)[2:], element_of(self._data)
        self._padding, self._aligned = build.text("padding_mode"), build.flag("align_corners")
        is_wide = not isinstance(element, AnyFloat) or Float64Type() in (element, element_of(grid))
        self._real: Attribute = f64 if is_wide else f32
        self._places = [self._table(build, grid, axis, extent) for axis, extent in enumerate(self._sizes)]

    def _table(self, build: TopiBuilder, grid: SSAValue, axis: int, extent: Dim) -> SSAValue:
        """Builds the coordinates along one axis, clamped or reflected according to the padding mode."""
        real, column = element_of(grid), len(self._sizes) - 1 - axis

        def fill(b: Body) -> SSAValue:
            n, *at = b.spatial
            one, two = b.constant(1, real), b.constant(2, real)
            moved = b.plus(b.read(grid, n, column, *at), one)
            if self._aligned:
                place = b.times(b.divide(moved, two), b.size(extent - 1, real))
            else:
                place = b.divide(b.minus(b.times(moved, b.size(extent, real)), one), two)
            place = place if self._reach else b.add(math.RoundEvenOp(place))
            place = clamp(b, place, b.constant(-MAX_COORDINATE, real), b.constant(MAX_COORDINATE, real))
            if self._padding == "border" and self._reach < 2:
                inside = _is_between_edges(b, place, extent, aligned=self._aligned)
                return b.select(inside, place, clamp(b, place, b.constant(0, real), b.size(extent - 1, real)))
            return _mirrored(b, place, extent, aligned=self._aligned) if self._padding == "reflection" else place

        batch, _, *extents = shape_of(grid)
        return build.compute("grid_places", variables("g", [batch, *extents]), real, fill)

    def sample(self, b: Body) -> SSAValue:
        """Returns the weighted sum of the taps, or the only tap."""
        n, _, *at = b.spatial
        places = [b.read(table, n, *at) for table in self._places]
        taps = [self._taps(b, place, extent) for place, extent in zip(places, self._sizes, strict=True)]
        if not self._reach:
            return self._value(b, [each for (each,) in taps])
        total = b.constant(0, self._real)
        for chosen in product(*taps):
            value = self._value(b, chosen)
            weight = reduce(b.times, (factor for _, _, factor in chosen))
            total = b.plus(total, b.times(weight, b.convert(value, self._real)))
        return total

    def _taps(self, b: Body, place: SSAValue, extent: Dim) -> list[Tap]:
        """Returns the elements around a coordinate along an axis."""
        below = b.floor(place)
        first = b.as_index(b.convert(below, i64))
        ratio = b.minus(b.convert(place, self._real), b.convert(below, self._real))
        steps = range(1 - self._reach, self._reach + 1) if self._reach else (0,)
        return [self._tap(b, first + step, ratio, step, extent) for step in steps]

    def _tap(self, b: Body, index: AffineExpr, ratio: SSAValue, step: int, extent: Dim) -> Tap:
        number = b.number(index, i64)
        float_number = b.convert(number, f64)
        if self._padding == "reflection":
            seen = _mirrored(b, float_number, extent, aligned=self._aligned)
            number = b.convert(seen, i64)
        zero, last = b.constant(0, i64), b.size(extent - 1, i64)
        nearest = b.add(arith.IndexCastOp(b.maximum(b.minimum(number, last), zero), IndexType()))
        return b.as_index(nearest), is_inside(b, float_number, extent), self._weight(b, ratio, step)

    def _weight(self, b: Body, ratio: SSAValue, step: int) -> SSAValue:
        """Returns the weight of the element that is `step` elements after the one below a coordinate."""
        one, a = b.constant(1, ratio.type), self._coefficient
        if self._reach < 2:
            return ratio if step else b.minus(one, ratio)
        d = b.absolute(b.minus(ratio, step))
        if step in (0, 1):
            near = b.minus(b.times(a + 2, d), a + 3)
            return b.plus(b.times(b.times(near, d), d), one)
        far = b.minus(b.times(a, d), 5 * a)
        far = b.plus(b.times(far, d), 8 * a)
        return b.minus(b.times(far, d), 4 * a)

    def _value(self, b: Body, taps: Sequence[Tap]) -> SSAValue:
        """Returns an element of the data; 0 outside with padding mode "zeros"."""
        n, channel, *_ = b.spatial
        value = b.read(self._data, n, channel, *(index for index, _, _ in taps))
        if self._padding != "zeros":
            return value
        inside = reduce(lambda one, other: b.logical_and(one, other), (inside for _, inside, _ in taps))
        return b.select(inside, value, 0)


def _is_between_edges(b: Body, place: SSAValue, extent: Dim, *, aligned: bool) -> SSAValue:
    """Returns whether a coordinate is between the outermost elements, or their outer edges unless `aligned`."""
    low = b.constant(0 if aligned else -0.5, place.type)
    high = b.plus(low, b.size(extent - 1 if aligned else extent, place.type))
    return b.logical_and(b.compare(place, "ge", low), b.compare(place, "le", high))


def _mirrored(b: Body, place: SSAValue, extent: Dim, *, aligned: bool) -> SSAValue:
    """Reflects a coordinate at both ends."""
    real = place.type
    low = b.constant(0 if aligned else -0.5, real)
    width, zero = b.size(extent - 1 if aligned else extent, real), b.constant(0, real)
    high, distance = b.plus(low, width), b.absolute(b.minus(place, low))
    times = b.floor(b.divide(distance, width))
    rest = b.minus(distance, b.times(times, width))
    pairs = b.floor(b.divide(times, 2))
    odd = b.minus(times, b.times(2, pairs))
    is_back = b.compare(odd, "ne", zero)
    seen = b.select(is_back, b.minus(high, rest), b.plus(low, rest))
    seen = b.select(_is_between_edges(b, place, extent, aligned=aligned), place, seen)
    # With a single element, all reflections are that element.
    return b.select(b.compare(width, "eq", zero), zero, seen)
