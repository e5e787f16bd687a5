"""Resizing, one axis after the other, or two at once by linear interpolation.

For each axis three small computes make tables: the coordinates of the result's indices in the data, the elements with a
weight, and their weights. The axis itself is a sum of reads. Coordinates are exact in f64, and no element of an image
is divided.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects import math
from xdsl.dialects.builtin import AnyFloat, Float64Type, IndexType, f32, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.scalars import COORDINATE_LIMIT, clamp, rounded
from xrelay.dialects.relay.core.resampling import Resampling
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.shape_environment import ShapeEnvironment

F32_ERROR = 2.0**-24
"""The relative error of rounding to f32."""


@dataclass(frozen=True)
class AxisPlaces:
    """A resized axis: its extents in the data and the result, and functions that read its scale and region in f64."""

    extent: Dim
    size: Dim
    scale: Callable[[Body], SSAValue] | None
    """None, or a value of 0, means the quotient of the extents."""
    region: Callable[[Body], tuple[SSAValue, SSAValue]]

    def extents(self, b: Body) -> tuple[SSAValue, SSAValue]:
        """Returns extent and size as f64."""
        return b.size(self.extent, f64), b.size(self.size, f64)

    def by_scale(self, b: Body, by_extents: SSAValue, given: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """Selects a value computed from the extents, or from the scale if one is given."""
        if self.scale is None:
            return by_extents
        scale = self.scale(b)
        is_none = b.compare(scale, "eq", 0)
        return b.select(is_none, by_extents, given(scale))

    def width(self, b: Body) -> SSAValue:
        """Returns the size before rounding to an integer."""
        extent, size = self.extents(b)
        return self.by_scale(b, size, lambda scale: _rounded(b, b.times(scale, extent)))

    def divided(self, b: Body, value: SSAValue) -> SSAValue:
        """Divides a number by the scale."""
        extent, size = self.extents(b)
        return self.by_scale(
            b, b.divide(b.times(value, extent), size), lambda scale: _rounded(b, b.divide(value, scale))
        )

    def shrinking(self, b: Body, rule: Resampling) -> SSAValue:
        """Returns the factor of distances: the scale of an axis that shrinks with `antialias`, else 1."""
        one = b.constant(1, f64)
        if not rule.antialias:
            return one
        extent, size = self.extents(b)
        scale = self.by_scale(b, b.divide(size, extent), lambda scale: scale)
        return b.select(b.compare(scale, "lt", one), scale, one)


def _rounded(b: Body, value: SSAValue) -> SSAValue:
    """Rounds an f64 number to f32."""
    return b.convert(b.convert(value, f32), f64)


def place_of(b: Body, at: AffineExpr, axis: AxisPlaces, rule: Resampling) -> SSAValue:
    """Returns the coordinate of the index `at` in f64, clamped to ±`COORDINATE_LIMIT`; NaN is the lower limit."""
    place = _place(b, b.number(at, f64), axis, rule.coordinates)
    return clamp(b, place, b.constant(-COORDINATE_LIMIT, f64), b.constant(COORDINATE_LIMIT, f64))


def _place(b: Body, index: SSAValue, axis: AxisPlaces, coordinates: str) -> SSAValue:
    half = b.constant(0.5, f64)
    extent, size = axis.extents(b)
    match coordinates:
        case "align_corners" | "tf_crop_and_resize":
            return _between_ends(b, index, axis, crops=coordinates != "align_corners")
        case "asymmetric":
            return axis.divided(b, index)
        case "tf_half_pixel_for_nn":
            scale = axis.by_scale(b, b.divide(size, extent), lambda given: given)
            return _unless_one(b, scale, axis.divided(b, b.plus(index, half)), index)
        case "half_pixel_symmetric":
            by_extents = b.minus(b.divide(b.times(b.plus(index, half), extent), size), half)
            return axis.by_scale(b, by_extents, lambda scale: _about_centre(b, index, axis, scale))
        case _:
            place = b.minus(axis.divided(b, b.plus(index, half)), half)
            if coordinates != "pytorch_half_pixel":
                return place
            return _unless_one(b, size, place, b.constant(0, f64))


def _about_centre(b: Body, index: SSAValue, axis: AxisPlaces, scale: SSAValue) -> SSAValue:
    """Returns the coordinate if the centres of data and result coincide; multiples of 0.5 are exact."""
    extent, size = axis.extents(b)
    one = b.constant(1, f64)
    from_centre = b.divide(b.minus(b.plus(b.plus(index, index), one), size), scale)
    doubled = b.plus(b.minus(extent, one), from_centre)
    whole = b.add(math.RoundEvenOp(doubled))
    error = b.times(b.absolute(from_centre), F32_ERROR)
    is_whole = b.compare(b.absolute(b.minus(doubled, whole)), "le", error)
    return b.times(b.select(is_whole, whole, doubled), 0.5)


def _between_ends(b: Body, index: SSAValue, axis: AxisPlaces, *, crops: bool) -> SSAValue:
    """Maps the first index to the start of the region, and the last one to its end."""
    one = b.constant(1, f64)
    last, width = b.size(axis.extent - 1, f64), axis.width(b)
    steps = _unless_one(b, width, b.minus(width, one), one)
    if not crops:
        return _unless_one(b, width, b.divide(b.times(index, last), steps), b.constant(0, f64))
    start, end = axis.region(b)
    way = b.divide(b.times(b.times(index, b.minus(end, start)), last), steps)
    middle = b.times(b.times(b.plus(start, end), 0.5), last)
    return _unless_one(b, width, b.plus(b.times(start, last), way), middle)


def _unless_one(b: Body, width: SSAValue, value: SSAValue, alone: SSAValue) -> SSAValue:
    """Selects `alone` if the width is 1, else `value`."""
    is_one = b.compare(width, "eq", 1)
    return b.select(is_one, alone, value)


@dataclass(frozen=True)
class Taps:
    """The elements with a weight and their weights: (count, size); the coordinates of the indices: (size)."""

    at: AxisPlaces
    rule: Resampling
    count: Dim
    places: SSAValue
    indices: SSAValue
    weights: SSAValue | None

    @property
    def size(self) -> Dim:
        """The extent of the result."""
        return self.at.size

    def extrapolated(self, b: Body, value: SSAValue, index: AffineExpr) -> SSAValue:
        """Selects the extrapolation if the coordinate of an index is outside of the axis, else `value`."""
        if not self.rule.crops:
            return value
        inside = is_inside(b, b.read(self.places, index), self.at.extent)
        return b.select(inside, value, b.convert(b.constant(self.rule.extrapolation, f64), value.type))


def taps_of(build: TopiBuilder, at: AxisPlaces, rule: Resampling, real: Attribute) -> Taps:
    """Builds the tables; weights are of type `real`."""
    places = build.compute("resize_places", {"o": at.size}, f64, lambda b: place_of(b, b.spatial[0], at, rule))
    half = rule.half_window(at.extent, at.size, by_scale=at.scale is not None)
    count: Dim = 2 * half if rule.reach else 1
    table = {"t": count, "o": at.size}

    def index(b: Body) -> SSAValue:
        number, place = b.spatial[0], b.read(places, b.spatial[1])
        if not rule.reach:
            return b.index(_clip(b, _as_i64(b, _nearest(b, place, rule.rounding)), at.extent))
        below = b.as_index(_as_i64(b, b.floor(place)))
        step = b.number(below + number - b.expr(half) + 1, i64)
        return b.index(_clip(b, step, at.extent))

    indices = build.compute("resize_indices", table, IndexType(), index)
    if not rule.reach:
        return Taps(at, rule, count, places, indices, None)

    def weight(b: Body) -> SSAValue:
        return _weight(b, b.read(places, b.spatial[1]), b.expr(b.spatial[0]) - b.expr(half) + 1, at, rule)

    if rule.is_normalized:
        weights = _normalized(build, build.compute("resize_raw_weights", table, f64, weight), table, real)
    else:
        weights = build.compute("resize_weights", table, real, lambda b: b.convert(weight(b), real))
    return Taps(at, rule, count, places, indices, weights)


def _as_i64(b: Body, value: SSAValue) -> SSAValue:
    return b.convert(value, i64)


def _clip(b: Body, index: SSAValue, extent: Dim) -> IndexLike:
    """Returns the index of the axis that is nearest to an i64."""
    zero, last = b.constant(0, i64), b.size(extent - 1, i64)
    return b.as_index(b.maximum(b.minimum(index, last), zero))


def _nearest(b: Body, place: SSAValue, rounding: str) -> SSAValue:
    """Returns the index nearest to a coordinate, as a float."""
    match rounding:
        case "floor":
            return b.floor(place)
        case "ceil":
            return b.ceil(place)
        case "round_prefer_floor":
            return b.ceil(b.minus(place, 0.5))
        case _:
            return b.floor(b.plus(place, 0.5))


def _weight(b: Body, place: SSAValue, step: AffineExpr, at: AxisPlaces, rule: Resampling) -> SSAValue:
    """Returns the weight of the element that is `step` elements after the one below a coordinate."""
    if rule.is_plain_linear:
        return _linear_weight(b, place, step, at.extent)
    steps = b.number(step, f64)
    tap = b.plus(b.floor(place), steps)
    distance = b.absolute(b.times(b.minus(tap, place), at.shrinking(b, rule)))
    value = _tent(b, distance) if rule.reach == 1 else _spline(b, distance, rule.cubic_alpha)
    if not rule.excludes:
        return value
    return b.select(is_inside(b, tap, at.extent), value, 0)


def _linear_weight(b: Body, place: SSAValue, step: AffineExpr, extent: Dim) -> SSAValue:
    """Returns the weight of the element below a coordinate (step 0) or above it; both are 0.5 at the end."""
    zero, one, last = b.constant(0, f64), b.constant(1, f64), b.size(extent - 1, f64)
    place = b.select(b.compare(place, "gt", zero), place, zero)
    above = b.minus(place, b.floor(place))
    weight = b.select(b.in_bounds([step], [1]), b.minus(one, above), above)
    return b.select(b.compare(place, "ge", last), 0.5, weight)


def _normalized(build: TopiBuilder, raw: SSAValue, table: dict[str, Dim], real: Attribute) -> SSAValue:
    """Divides weights by their sum, added in the order of the elements; if all are 0, they stay 0."""

    def add(b: Body) -> SSAValue:
        return b.plus(b.accumulators[0], b.read(raw, b.reduction[0], b.spatial[0]))

    steps = {"t": table["t"]}
    total = build.compute("resize_weight_sums", {"o": table["o"]}, element_of(raw), add, reduce=steps, init=[0])

    def divided(b: Body) -> SSAValue:
        whole = b.read(total, b.spatial[1])
        is_zero = b.compare(whole, "eq", 0)
        by = b.select(is_zero, 1, whole)
        return b.convert(b.divide(b.read(raw, *b.spatial), by), real)

    return build.compute("resize_weights", table, real, divided)


def _tent(b: Body, d: SSAValue) -> SSAValue:
    """Returns the weight of a distance in linear interpolation."""
    one, zero = b.constant(1, f64), b.constant(0, f64)
    return b.select(b.compare(d, "lt", one), b.minus(one, d), zero)


def _spline(b: Body, d: SSAValue, a: float) -> SSAValue:
    """Returns the weight of a distance in cubic interpolation with coefficient `a`, in f64."""

    def number(value: float) -> SSAValue:
        return b.constant(value, f64)

    near = b.minus(b.times(number(a + 2), d), number(a + 3))
    near = b.plus(b.times(b.times(near, d), d), number(1))
    far = b.plus(b.times(b.minus(b.times(number(a), d), number(5 * a)), d), number(8 * a))
    far = b.minus(b.times(far, d), number(4 * a))
    outer = b.select(b.compare(d, "lt", number(2)), far, number(0))
    return b.select(b.compare(d, "le", number(1)), near, outer)


def is_inside(b: Body, place: SSAValue, extent: Dim) -> SSAValue:
    """Returns whether an f64 coordinate is within an axis."""
    low = b.compare(place, "ge", 0)
    return b.logical_and(low, b.compare(place, "le", b.size(extent - 1, f64)))


UNROLLED = 8
"""The maximum number of terms that are written out; more are a reduction."""


def resized(build: TopiBuilder, rule: Resampling, axes: dict[int, AxisPlaces]) -> SSAValue:
    """Builds the data with `axes` resized, converted to the result's type at the end."""
    data, target = build.operand(0), build.result_type.element_type
    real = element_of(data) if not rule.reach else _weighed_in(element_of(data))
    changed = {axis: at for axis, at in axes.items() if at.scale is not None or not rule.keeps(at.extent, at.size)}
    if rule.is_plain_linear and len(changed) == 2:
        return _bilinear(build, data, _kept_shape(build, data, axes), rule, dict(sorted(changed.items())))
    for number, (axis, at) in enumerate(changed.items()):
        last = number == len(changed) - 1
        shape, taps = _kept_shape(build, data, axes), taps_of(build, at, rule, real)
        shape[axis] = taps.size
        data = _resized_axis(build, data, shape, axis, taps, real, target if last else real)
    return data if changed else _convert(build, data, _kept_shape(build, data, axes), target)


def _bilinear(
    build: TopiBuilder, data: SSAValue, shape: list[Dim], rule: Resampling, axes: dict[int, AxisPlaces]
) -> SSAValue:
    """Resizes two axes at once: each of four elements times the product of its weights, as onnxruntime sums them."""
    target, real = build.result_type.element_type, _weighed_in(element_of(data))
    taps = {axis: taps_of(build, at, rule, real) for axis, at in axes.items()}
    rows, columns = taps
    shape[columns] = taps[columns].size
    sources = [data, data]
    if columns == len(shape) - 1 and _grows(axes[rows]):
        sources = [_gather(build, data, shape, columns, taps[columns], number, real) for number in (0, 1)]
    shape[rows] = taps[rows].size

    def term(b: Body, numbers: Sequence[int]) -> SSAValue:
        source = sources[numbers[1]]
        place: list[IndexLike] = [*b.spatial]
        weights: list[SSAValue] = []
        for (axis, own), number in zip(taps.items(), numbers, strict=True):
            assert own.weights is not None, "linear interpolation has weights"
            if axis == rows or source is data:
                place[axis] = b.read_index(own.indices, number, b.spatial[axis])
            weights.append(b.read(own.weights, number, b.spatial[axis]))
        return b.times(b.times(*weights), b.convert(b.read(source, *place), real))

    def fill(b: Body) -> SSAValue:
        total, *others = (term(b, numbers) for numbers in product((0, 1), repeat=2))
        for other in others:
            total = b.plus(total, other)
        for axis, own in taps.items():
            total = own.extrapolated(b, total, b.spatial[axis])
        return rounded(b, total, target)

    return build.compute("resize", variables("i", shape), target, fill)


def _grows(at: AxisPlaces) -> bool:
    """Returns whether the size is certainly at least the extent."""
    low, _ = ShapeEnvironment().interval(at.size - at.extent)
    return low is not None and low >= 0


def _gather(
    build: TopiBuilder, data: SSAValue, shape: Sequence[Dim], axis: int, taps: Taps, number: int, real: Attribute
) -> SSAValue:
    """Returns the elements below (`number` 0) or above (1) the coordinates along the innermost axis.

    An axis that grows reads each row several times. A row that is gathered once is then read as vectors.
    """

    def fill(b: Body) -> SSAValue:
        place: list[IndexLike] = [*b.spatial]
        place[axis] = b.read_index(taps.indices, number, b.spatial[axis])
        return b.convert(b.read(data, *place), real)

    return build.compute("resize_columns", variables("i", shape), real, fill)


def _kept_shape(build: TopiBuilder, data: SSAValue, axes: Collection[int]) -> list[Dim]:
    """Returns the data's extents along `axes` and those of the result along the others, which may differ in form."""
    pairs = enumerate(zip(shape_of(data), build.result_shape, strict=True))
    return [own if axis in axes else result for axis, (own, result) in pairs]


def _weighed_in(element: Attribute) -> AnyFloat:
    """Returns the type of weights and sums."""
    return f32 if isinstance(element, AnyFloat) and not isinstance(element, Float64Type) else f64


def _convert(build: TopiBuilder, data: SSAValue, shape: Sequence[Dim], target: Attribute) -> SSAValue:
    """Returns unchanged elements in the result's type."""

    def fill(b: Body) -> SSAValue:
        return rounded(b, b.read(data, *b.spatial), target)

    return build.compute("resize_cast", variables("i", shape), target, fill)


def _resized_axis(
    build: TopiBuilder,
    data: SSAValue,
    shape: Sequence[Dim],
    axis: int,
    taps: Taps,
    real: Attribute,
    target: Attribute,
) -> SSAValue:
    """Resizes one axis to get data of `shape`: each element is the sum of weighted elements."""
    names = variables("i", shape)

    def term(b: Body, number: IndexLike) -> SSAValue:
        place: list[IndexLike] = [*b.spatial]
        place[axis] = b.read_index(taps.indices, number, b.spatial[axis])
        value = b.read(data, *place)
        if taps.weights is None:
            return value
        return b.times(b.read(taps.weights, number, b.spatial[axis]), b.convert(value, real))

    def unrolled(b: Body, count: int) -> SSAValue:
        total = term(b, 0)
        for number in range(1, count):
            total = b.plus(total, term(b, number))
        return rounded(b, taps.extrapolated(b, total, b.spatial[axis]), target)

    count = taps.count
    if isinstance(count, int) and count <= UNROLLED:
        return build.compute("resize", names, target, lambda b: unrolled(b, count))

    def add(b: Body) -> SSAValue:
        return b.plus(b.accumulators[0], term(b, b.reduction[0]))

    total = build.compute("resize_sum", names, real, add, reduce={"t": count}, init=[0])

    def finish(b: Body) -> SSAValue:
        return rounded(b, taps.extrapolated(b, b.read(total, *b.spatial), b.spatial[axis]), target)

    return build.compute("resize", names, target, finish)
