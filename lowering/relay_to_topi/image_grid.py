"""`relay.image.grid_sample`: tables of coordinates in the data, and weighted sums of the elements around them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float64Type, IndexType, f32, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.ops.image_grid import CUBIC, SAMPLINGS, GridSampleOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.image_resize import finished
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.lowering.relay_to_topi.resize_taps import is_inside

FAR = 1 << 30
"""Coordinates farther outside are clamped to this."""


@implements(GridSampleOp, "image.grid_sample.generic")
@in_single
def build_grid_sample(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Sums over all taps: one, two or four for each axis."""
    op, data = cast(GridSampleOp, emitter.op), emitter.operand(0)
    real = element_of(emitter.operand(1))
    places = [_table(emitter, op, axis, extent, real) for axis, extent in enumerate(shape_of(data)[2:])]
    sampler = _Sampler(op, data, places)
    names, target = variables("i", emitter.result_shape), emitter.result_type.element_type
    return [emitter.compute("grid_sample", names, target, lambda b: finished(b, sampler.sample(b), target))]


def _table(emitter: TopiBuilder, op: GridSampleOp, axis: int, extent: Dim, real: Attribute) -> SSAValue:
    """Returns the table of coordinates along one axis, clamped or reflected according to the padding mode."""
    grid, count = emitter.operand(1), len(shape_of(emitter.operand(0))) - 2
    aligned, padding, method = bool(op.align_corners.value.data), op.padding_mode.data, op.method.data

    def fill(b: Body) -> SSAValue:
        n, *at = b.spatial
        one, two = b.constant(1, real), b.constant(2, real)
        moved = b.plus(b.read(grid, n, count - 1 - axis, *at), one)
        if aligned:
            place = b.times(b.divide(moved, two), b.size(extent - 1, real))
        else:
            place = b.divide(b.minus(b.times(moved, b.size(extent, real)), one), two)
        place = b.add(math.RoundEvenOp(place)) if method == SAMPLINGS[0] else place
        place = _between(b, place, b.constant(-FAR, real), b.constant(FAR, real))
        if padding == "border" and method != SAMPLINGS[2]:
            inside = _is_between_edges(b, place, extent, aligned=aligned)
            nearest = _between(b, place, b.constant(0, real), b.size(extent - 1, real))
            return b.add(SelectOp(inside, place, nearest))
        return _mirrored(b, place, extent, aligned=aligned) if padding == "reflection" else place

    batch, _, *extents = shape_of(grid)
    return emitter.compute("grid_places", variables("g", [batch, *extents]), real, fill)


def _between(b: Body, value: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    """Clamps a float; NaN becomes the lower bound."""
    value = b.add(SelectOp(b.add(arith.CmpfOp(value, low, "ogt")), value, low))
    return b.add(SelectOp(b.add(arith.CmpfOp(value, high, "olt")), value, high))


def _is_between_edges(b: Body, place: SSAValue, extent: Dim, *, aligned: bool) -> SSAValue:
    """Returns whether a coordinate is between the outermost elements, or their outer edges unless `aligned`."""
    low = b.constant(0 if aligned else -0.5, place.type)
    high = b.plus(low, b.size(extent - 1 if aligned else extent, place.type))
    return b.add(arith.AndIOp(b.add(arith.CmpfOp(place, low, "oge")), b.add(arith.CmpfOp(place, high, "ole"))))


def _mirrored(b: Body, place: SSAValue, extent: Dim, *, aligned: bool) -> SSAValue:
    """Reflects a coordinate at both ends."""
    real = place.type
    low = b.constant(0 if aligned else -0.5, real)
    width, zero = b.size(extent - 1 if aligned else extent, real), b.constant(0, real)
    high, way = b.plus(low, width), b.add(math.AbsFOp(b.minus(place, low)))
    times = b.add(math.FloorOp(b.divide(way, width)))
    rest = b.minus(way, b.times(times, width))
    pairs = b.add(math.FloorOp(b.divide(times, b.constant(2, real))))
    odd = b.minus(times, b.times(b.constant(2, real), pairs))
    is_back = b.add(arith.CmpfOp(odd, zero, "une"))
    seen = b.add(SelectOp(is_back, b.minus(high, rest), b.plus(low, rest)))
    seen = b.add(SelectOp(_is_between_edges(b, place, extent, aligned=aligned), place, seen))
    # With a single element, all reflections are that element.
    return b.add(SelectOp(b.add(arith.CmpfOp(width, zero, "oeq")), zero, seen))


class _Sampler:
    """Emits the weighted sum for one element."""

    def __init__(self, op: GridSampleOp, data: SSAValue, places: Sequence[SSAValue]):
        self.data, self.places, self.sizes = data, places, shape_of(data)[2:]
        self.reach, self.padding = SAMPLINGS.index(op.method.data), op.padding_mode.data
        self.aligned, element = bool(op.align_corners.value.data), element_of(data)
        is_wide = not isinstance(element, AnyFloat) or Float64Type() in (element, element_of(places[0]))
        self.real: Attribute = f64 if is_wide else f32

    def sample(self, b: Body) -> SSAValue:
        """Returns the weighted sum of the taps, or the only tap."""
        n, _, *at = b.spatial
        places = [b.read(table, n, *at) for table in self.places]
        taps = [self._taps(b, place, extent) for place, extent in zip(places, self.sizes, strict=True)]
        total: SSAValue | None = None
        for chosen in product(*taps):
            value = self._value(b, [(index, inside) for index, inside, _ in chosen])
            if not self.reach:
                return value
            weight = chosen[0][2]
            for _, _, factor in chosen[1:]:
                weight = b.times(weight, factor)
            term = b.times(weight, convert_scalar(b, value, self.real))
            total = b.plus(b.constant(0, self.real) if total is None else total, term)
        return b.constant(0, self.real) if total is None else total

    def _taps(self, b: Body, place: SSAValue, extent: Dim) -> list[tuple[IndexLike, SSAValue, SSAValue]]:
        """Returns the index, whether it is inside, and the weight of each element around a coordinate."""
        below = b.add(math.FloorOp(place))
        first = b.as_index(b.add(arith.IndexCastOp(b.add(arith.FPToSIOp(below, i64)), IndexType())))
        ratio = b.minus(convert_scalar(b, place, self.real), convert_scalar(b, below, self.real))
        steps = range(1 - self.reach, self.reach + 1) if self.reach else (0,)
        return [self._tap(b, first + step, ratio, step, extent) for step in steps]

    def _tap(
        self, b: Body, index: AffineExpr, ratio: SSAValue, step: int, extent: Dim
    ) -> tuple[IndexLike, SSAValue, SSAValue]:
        number = b.add(arith.IndexCastOp(b.index(index), i64))
        float_number = convert_scalar(b, number, f64)
        if self.padding == "reflection":
            seen = _mirrored(b, float_number, extent, aligned=self.aligned)
            number = b.add(arith.FPToSIOp(seen, i64))
        zero, last = b.constant(0, i64), b.size(extent - 1, i64)
        clipped = b.add(arith.IndexCastOp(b.maximum(b.minimum(number, last), zero), IndexType()))
        return b.as_index(clipped), is_inside(b, float_number, extent), _weight(b, ratio, step, self.reach)

    def _value(self, b: Body, taps: Sequence[tuple[IndexLike, SSAValue]]) -> SSAValue:
        """Returns an element of the data; 0 outside with padding mode "zeros"."""
        n, channel, *_ = b.spatial
        value = b.read(self.data, n, channel, *(index for index, _ in taps))
        if self.padding != "zeros":
            return value
        inside = taps[0][1]
        for _, each in taps[1:]:
            inside = b.add(arith.AndIOp(inside, each))
        return b.add(SelectOp(inside, value, b.constant(0, element_of(self.data))))


def _weight(b: Body, ratio: SSAValue, step: int, reach: int) -> SSAValue:
    """Returns the weight of the element that is `step` elements after the one below a coordinate."""
    one, real = b.constant(1, ratio.type), ratio.type
    if reach < 2:
        return ratio if step else b.minus(one, ratio)
    d = b.add(math.AbsFOp(b.minus(ratio, b.constant(step, real))))
    if step in (0, 1):
        near = b.minus(b.times(b.constant(CUBIC + 2, real), d), b.constant(CUBIC + 3, real))
        return b.plus(b.times(b.times(near, d), d), one)
    far = b.minus(b.times(b.constant(CUBIC, real), d), b.constant(5 * CUBIC, real))
    far = b.plus(b.times(far, d), b.constant(8 * CUBIC, real))
    return b.minus(b.times(far, d), b.constant(4 * CUBIC, real))
