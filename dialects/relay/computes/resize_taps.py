"""The tables of one resized axis: for each index of the result, the elements with a weight and their weights."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.resize_places import AxisPlaces, place_of
from xrelay.dialects.relay.computes.scalars import as_number
from xrelay.dialects.relay.core.resampling import Resampling
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.index_algebra.dims import Dim


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
        return b.select(inside, value, convert_scalar(b, b.constant(self.rule.extrapolation, f64), value.type))


def taps_of(build: TopiBuilder, at: AxisPlaces, rule: Resampling, real: Attribute) -> Taps:
    """Builds the tables; weights are of type `real`."""
    places = build.compute("resize_places", {"o": at.size}, f64, lambda b: place_of(b, b.spatial[0], at, rule))
    half = rule.half_window(at.extent, at.size, by_scale=at.scale is not None)
    count: Dim = 2 * half if rule.reach else 1
    table: dict[str, Dim] = {"t": count, "o": at.size}

    def index(b: Body) -> SSAValue:
        number, place = b.spatial[0], b.read(places, b.spatial[1])
        if not rule.reach:
            return b.index(_clipped(b, _as_i64(b, _nearest(b, place, rule.rounding)), at.extent))
        below = b.as_index(b.add(arith.IndexCastOp(_as_i64(b, b.add(math.FloorOp(place))), IndexType())))
        step = as_number(b, below + number - b.expr(half) + 1, i64)
        return b.index(_clipped(b, step, at.extent))

    indices = build.compute("resize_indices", table, IndexType(), index)
    if not rule.reach:
        return Taps(at, rule, count, places, indices, None)

    def weight(b: Body) -> SSAValue:
        return _weight(b, b.read(places, b.spatial[1]), b.expr(b.spatial[0]) - b.expr(half) + 1, at, rule)

    if rule.is_normalized:
        weights = _normalized(build, build.compute("resize_raw_weights", table, f64, weight), table, real)
    else:
        weights = build.compute("resize_weights", table, real, lambda b: convert_scalar(b, weight(b), real))
    return Taps(at, rule, count, places, indices, weights)


def _as_i64(b: Body, value: SSAValue) -> SSAValue:
    return b.add(arith.FPToSIOp(value, i64))


def _clipped(b: Body, index: SSAValue, extent: Dim) -> IndexLike:
    """Returns the index of the axis that is nearest to an i64."""
    zero, last = b.constant(0, i64), b.size(extent - 1, i64)
    return b.as_index(b.add(arith.IndexCastOp(b.maximum(b.minimum(index, last), zero), IndexType())))


def _nearest(b: Body, place: SSAValue, rounding: str) -> SSAValue:
    """Returns the index nearest to a coordinate, as a float."""
    match rounding:
        case "floor":
            return b.add(math.FloorOp(place))
        case "ceil":
            return b.add(math.CeilOp(place))
        case "round_prefer_floor":
            return b.add(math.CeilOp(b.minus(place, b.constant(0.5, f64))))
        case _:
            return b.add(math.FloorOp(b.plus(place, b.constant(0.5, f64))))


def _weight(b: Body, place: SSAValue, step: AffineExpr, at: AxisPlaces, rule: Resampling) -> SSAValue:
    """Returns the weight of the element that is `step` elements after the one below a coordinate."""
    if rule.is_plain_linear:
        return _linear_weight(b, place, step, at.extent)
    steps = as_number(b, step, f64)
    tap = b.plus(b.add(math.FloorOp(place)), steps)
    distance = b.absolute(b.times(b.minus(tap, place), at.shrinking(b, rule)))
    value = _tent(b, distance) if rule.reach == 1 else _spline(b, distance, rule.cubic_alpha)
    if not rule.excludes:
        return value
    return b.select(is_inside(b, tap, at.extent), value, b.constant(0, f64))


def _linear_weight(b: Body, place: SSAValue, step: AffineExpr, extent: Dim) -> SSAValue:
    """Returns the weight of the element below a coordinate (step 0) or above it; both are 0.5 at the end."""
    zero, one, last = b.constant(0, f64), b.constant(1, f64), b.size(extent - 1, f64)
    place = b.select(b.add(arith.CmpfOp(place, zero, "ogt")), place, zero)
    above = b.minus(place, b.add(math.FloorOp(place)))
    weight = b.select(b.in_bounds([step], [1]), b.minus(one, above), above)
    return b.select(b.add(arith.CmpfOp(place, last, "oge")), b.constant(0.5, f64), weight)


def _normalized(build: TopiBuilder, raw: SSAValue, table: dict[str, Dim], real: Attribute) -> SSAValue:
    """Divides weights by their sum, added in the order of the elements; if all are 0, they stay 0."""

    def add(b: Body) -> SSAValue:
        return b.plus(b.accumulators[0], b.read(raw, b.reduction[0], b.spatial[0]))

    steps = {"t": table["t"]}
    total = build.compute("resize_weight_sums", {"o": table["o"]}, element_of(raw), add, reduce=steps, init=[0])

    def divided(b: Body) -> SSAValue:
        whole = b.read(total, b.spatial[1])
        is_zero = b.add(arith.CmpfOp(whole, b.constant(0, f64), "oeq"))
        by = b.select(is_zero, b.constant(1, f64), whole)
        return convert_scalar(b, b.divide(b.read(raw, *b.spatial), by), real)

    return build.compute("resize_weights", table, real, divided)


def _tent(b: Body, d: SSAValue) -> SSAValue:
    """Returns the weight of a distance in linear interpolation."""
    one, zero = b.constant(1, f64), b.constant(0, f64)
    return b.select(b.add(arith.CmpfOp(d, one, "olt")), b.minus(one, d), zero)


def _spline(b: Body, d: SSAValue, a: float) -> SSAValue:
    """Returns the weight of a distance in cubic interpolation with coefficient `a`, in f64."""

    def number(value: float) -> SSAValue:
        return b.constant(value, f64)

    near = b.minus(b.times(number(a + 2), d), number(a + 3))
    near = b.plus(b.times(b.times(near, d), d), number(1))
    far = b.plus(b.times(b.minus(b.times(number(a), d), number(5 * a)), d), number(8 * a))
    far = b.minus(b.times(far, d), number(4 * a))
    outer = b.select(b.add(arith.CmpfOp(d, number(2), "olt")), far, number(0))
    return b.select(b.add(arith.CmpfOp(d, number(1), "ole")), near, outer)


def is_inside(b: Body, place: SSAValue, extent: Dim) -> SSAValue:
    """Returns whether an f64 coordinate is within an axis."""
    low = b.add(arith.CmpfOp(place, b.constant(0, f64), "oge"))
    return b.add(arith.AndIOp(low, b.add(arith.CmpfOp(place, b.size(extent - 1, f64), "ole"))))
