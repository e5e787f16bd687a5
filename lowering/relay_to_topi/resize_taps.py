"""The tables of one resized axis: for each index of the result the elements that take part, and their weights."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.ops.image_resize import Resampling
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.resize_places import AxisPlaces, place_of


@dataclass(frozen=True)
class Taps:
    """The elements that take part and their weights: (count, size); the places of the indices: (size)."""

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
        """`value`, but the extrapolation where a region reaches beyond the axis."""
        if not self.rule.crops:
            return value
        inside = is_inside(b, b.read(self.places, index), self.at.extent)
        return b.add(SelectOp(inside, value, convert_scalar(b, b.constant(self.rule.extrapolation, f64), value.type)))


def taps_of(emitter: TopiBuilder, at: AxisPlaces, rule: Resampling, real: Attribute) -> Taps:
    """Builds the tables; weights are of type `real`."""
    places = emitter.compute("resize_places", {"o": at.size}, f64, lambda b: place_of(b, b.spatial[0], at, rule))
    half = rule.half_window(at.extent, at.size, by_scale=at.scale is not None)
    count: Dim = 2 * half if rule.reach else 1
    table: dict[str, Dim] = {"t": count, "o": at.size}

    def index(b: Body) -> SSAValue:
        number, place = b.spatial[0], b.read(places, b.spatial[1])
        if not rule.reach:
            return b.index(_clipped(b, _as_i64(b, _nearest(b, place, rule.rounding)), at.extent))
        below = b.as_index(b.add(arith.IndexCastOp(_as_i64(b, b.add(math.FloorOp(place))), IndexType())))
        step = b.add(arith.IndexCastOp(b.index(below + number - b.expr(half) + 1), i64))
        return b.index(_clipped(b, step, at.extent))

    indices = emitter.compute("resize_indices", table, IndexType(), index)
    if not rule.reach:
        return Taps(at, rule, count, places, indices, None)

    def weight(b: Body) -> SSAValue:
        return _weight(b, b.read(places, b.spatial[1]), b.expr(b.spatial[0]) - b.expr(half) + 1, at, rule)

    if rule.is_normalized:
        weights = _normalized(emitter, emitter.compute("resize_raw_weights", table, f64, weight), table, real)
    else:
        weights = emitter.compute("resize_weights", table, real, lambda b: convert_scalar(b, weight(b), real))
    return Taps(at, rule, count, places, indices, weights)


def _as_i64(b: Body, value: SSAValue) -> SSAValue:
    return b.add(arith.FPToSIOp(value, i64))


def _clipped(b: Body, index: SSAValue, extent: Dim) -> IndexLike:
    """The index of the axis that is nearest to an i64."""
    zero, last = b.constant(0, i64), b.size(extent - 1, i64)
    return b.as_index(b.add(arith.IndexCastOp(b.maximum(b.minimum(index, last), zero), IndexType())))


def _nearest(b: Body, place: SSAValue, rounding: str) -> SSAValue:
    """The index nearest to a place, as a float."""
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
    """The weight of the element so many steps above that below a place."""
    if rule.is_plain_linear:
        return _linear_weight(b, place, step, at.extent)
    steps = convert_scalar(b, b.add(arith.IndexCastOp(b.index(step), i64)), f64)
    tap = b.plus(b.add(math.FloorOp(place)), steps)
    distance = b.add(math.AbsFOp(b.times(b.minus(tap, place), at.shrinking(b, rule))))
    value = tent(b, distance) if rule.reach == 1 else spline(b, distance, rule.cubic_alpha)
    if not rule.excludes:
        return value
    return b.add(SelectOp(is_inside(b, tap, at.extent), value, b.constant(0, f64)))


def _linear_weight(b: Body, place: SSAValue, step: AffineExpr, extent: Dim) -> SSAValue:
    """The weight of the element below a place, for step 0, or above it; one half each at the end of the axis."""
    zero, one, last = b.constant(0, f64), b.constant(1, f64), b.size(extent - 1, f64)
    place = b.add(SelectOp(b.add(arith.CmpfOp(place, zero, "ogt")), place, zero))
    above = b.minus(place, b.add(math.FloorOp(place)))
    weight = b.add(SelectOp(b.in_bounds([step], [1]), b.minus(one, above), above))
    return b.add(SelectOp(b.add(arith.CmpfOp(place, last, "oge")), b.constant(0.5, f64), weight))


def _normalized(emitter: TopiBuilder, raw: SSAValue, table: dict[str, Dim], real: Attribute) -> SSAValue:
    """Weights divided by their sum, in the order of the elements; those that are all 0 stay."""

    def add(b: Body) -> SSAValue:
        return b.plus(b.accumulators[0], b.read(raw, b.reduction[0], b.spatial[0]))

    steps = {"t": table["t"]}
    total = emitter.compute("resize_weight_sums", {"o": table["o"]}, element_of(raw), add, reduce=steps, init=[0])

    def divided(b: Body) -> SSAValue:
        whole = b.read(total, b.spatial[1])
        is_zero = b.add(arith.CmpfOp(whole, b.constant(0, f64), "oeq"))
        by = b.add(SelectOp(is_zero, b.constant(1, f64), whole))
        return convert_scalar(b, b.divide(b.read(raw, *b.spatial), by), real)

    return emitter.compute("resize_weights", table, real, divided)


def tent(b: Body, d: SSAValue) -> SSAValue:
    """The weight of a distance in linear interpolation."""
    one, zero = b.constant(1, f64), b.constant(0, f64)
    return b.add(SelectOp(b.add(arith.CmpfOp(d, one, "olt")), b.minus(one, d), zero))


def spline(b: Body, d: SSAValue, a: float) -> SSAValue:
    """The weight of a distance in cubic interpolation with coefficient `a`, in f64."""

    def number(value: float) -> SSAValue:
        return b.constant(value, f64)

    near = b.minus(b.times(number(a + 2), d), number(a + 3))
    near = b.plus(b.times(b.times(near, d), d), number(1))
    far = b.plus(b.times(b.minus(b.times(number(a), d), number(5 * a)), d), number(8 * a))
    far = b.minus(b.times(far, d), number(4 * a))
    outer = b.add(SelectOp(b.add(arith.CmpfOp(d, number(2), "olt")), far, number(0)))
    return b.add(SelectOp(b.add(arith.CmpfOp(d, number(1), "ole")), near, outer))


def is_inside(b: Body, place: SSAValue, extent: Dim) -> SSAValue:
    """Whether a place of f64 lies within an axis."""
    low = b.add(arith.CmpfOp(place, b.constant(0, f64), "oge"))
    return b.add(arith.AndIOp(low, b.add(arith.CmpfOp(place, b.size(extent - 1, f64), "ole"))))
