"""Resizing, one axis after the other, or two at once by linear interpolation.

For each axis three small computes make tables: the coordinates of the result's indices, the elements with a weight, and
their weights. The axis itself is a sum of reads. Coordinates are exact in f64, and no element of an image is divided.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product

from xdsl.dialects.builtin import AnyFloat, Float64Type, f32, f64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.resize_places import AxisPlaces
from xrelay.dialects.relay.computes.resize_taps import Taps, taps_of
from xrelay.dialects.relay.computes.scalars import rounded
from xrelay.dialects.relay.core.resampling import Resampling
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.shape_environment import ShapeEnvironment

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
    return data if changed else _converted(build, data, _kept_shape(build, data, axes), target)


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
        sources = [_gathered(build, data, shape, columns, taps[columns], number, real) for number in (0, 1)]
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
        return b.times(b.times(*weights), convert_scalar(b, b.read(source, *place), real))

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


def _gathered(
    build: TopiBuilder, data: SSAValue, shape: Sequence[Dim], axis: int, taps: Taps, number: int, real: Attribute
) -> SSAValue:
    """Returns the elements below (`number` 0) or above (1) the coordinates along the innermost axis.

    An axis that grows reads each row several times. A row that is gathered once is then read as vectors.
    """

    def fill(b: Body) -> SSAValue:
        place: list[IndexLike] = [*b.spatial]
        place[axis] = b.read_index(taps.indices, number, b.spatial[axis])
        return convert_scalar(b, b.read(data, *place), real)

    return build.compute("resize_columns", variables("i", shape), real, fill)


def _kept_shape(build: TopiBuilder, data: SSAValue, axes: Collection[int]) -> list[Dim]:
    """Returns the data's extents along `axes` and those of the result along the others, which may differ in form."""
    pairs = enumerate(zip(shape_of(data), build.result_shape, strict=True))
    return [own if axis in axes else result for axis, (own, result) in pairs]


def _weighed_in(element: Attribute) -> AnyFloat:
    """Returns the type of weights and sums."""
    return f32 if isinstance(element, AnyFloat) and not isinstance(element, Float64Type) else f64


def _converted(build: TopiBuilder, data: SSAValue, shape: Sequence[Dim], target: Attribute) -> SSAValue:
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
        return b.times(b.read(taps.weights, number, b.spatial[axis]), convert_scalar(b, value, real))

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
