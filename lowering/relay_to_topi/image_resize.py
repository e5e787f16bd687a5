"""Resizing, one axis after the other, or two at once by linear interpolation.

For each axis three small computes make tables: the places of the result's indices, the elements that take part there,
and their weights. The axis itself is a sum of reads. Places are exact in f64; no element of an image divides.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float64Type, f32, f64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.ops.image_resize import RESIZES, DynResizeOp, Resampling, ResizeOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.scalars import convert_scalar, value_range
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.shape_environment import ShapeEnvironment
from xrelay.lowering.relay_to_topi.dyn_places import has_named_extents
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.lowering.relay_to_topi.resize_places import AxisPlaces
from xrelay.lowering.relay_to_topi.resize_taps import Taps, taps_of

UNROLLED = 8
"""The maximum number of terms that are written out; more are a reduction."""


def build_resize(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """The spatial axes, wherever the layout has them."""
    op = cast(ResizeOp, emitter.op)
    shape, letters = shape_of(emitter.operand(0)), str(op.data_layout.primal)
    axes: dict[int, AxisPlaces] = {}
    for letter, size, region in zip(op.AXES, ints(op.size), op.spans(), strict=True):
        axis = letters.index(letter)

        def of_region(b: Body, found: tuple[float, float] = region or (0.0, 1.0)) -> tuple[SSAValue, SSAValue]:
            return b.constant(found[0], f64), b.constant(found[1], f64)

        axes[axis] = AxisPlaces(shape[axis], size, None, of_region)
    return _resized(emitter, op.resampling, axes)


for _op in RESIZES:
    implements(_op, f"{_op.relay_name()}.generic")(in_single(build_resize))


@implements(DynResizeOp, "dyn.image.resize.named", condition=has_named_extents)
@in_single
def build_dyn_resize(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """The axes in the order in which they are named, their scales and regions read where the program runs."""
    op = cast(DynResizeOp, emitter.op)
    shape, scales, roi = shape_of(emitter.operand(0)), emitter.operand(2), emitter.operand(3)
    named = [axis_index(axis, len(shape)) for axis in ints(op.axes)]
    axes: dict[int, AxisPlaces] = {}
    for number, axis in enumerate(named):

        def scale(b: Body, at: int = number) -> SSAValue:
            return convert_scalar(b, b.read(scales, at), f64)

        def region(b: Body, at: int = number) -> tuple[SSAValue, SSAValue]:
            first, last = (convert_scalar(b, b.read(roi, place), f64) for place in (at, at + len(named)))
            return first, last

        axes[axis] = AxisPlaces(shape[axis], emitter.result_shape[axis], scale, region)
    return _resized(emitter, op.resampling, axes)


def _resized(emitter: TopiBuilder, rule: Resampling, axes: dict[int, AxisPlaces]) -> Sequence[SSAValue]:
    """The axes one after the other, and the result's type at the end."""
    data, target = emitter.operand(0), emitter.result_type.element_type
    real = element_of(data) if not rule.reach else _weighed_in(element_of(data))
    changed = {axis: at for axis, at in axes.items() if at.scale is not None or not rule.keeps(at.extent, at.size)}
    if rule.is_plain_linear and len(changed) == 2:
        return [_bilinear(emitter, data, _kept_shape(emitter, data, axes), rule, dict(sorted(changed.items())))]
    for number, (axis, at) in enumerate(changed.items()):
        last = number == len(changed) - 1
        shape, taps = _kept_shape(emitter, data, axes), taps_of(emitter, at, rule, real)
        shape[axis] = taps.size
        data = _resized_axis(emitter, data, shape, axis, taps, real, target if last else real)
    return [data if changed else _converted(emitter, data, _kept_shape(emitter, data, axes), target)]


def _bilinear(
    emitter: TopiBuilder, data: SSAValue, shape: list[Dim], rule: Resampling, axes: dict[int, AxisPlaces]
) -> SSAValue:
    """Two axes at once: each of four elements by the product of its weights, as onnxruntime sums them."""
    target, real = emitter.result_type.element_type, _weighed_in(element_of(data))
    taps = {axis: taps_of(emitter, at, rule, real) for axis, at in axes.items()}
    rows, columns = taps
    shape[columns] = taps[columns].size
    sources = [data, data]
    if columns == len(shape) - 1 and _grows(axes[rows]):
        sources = [_gathered(emitter, data, shape, columns, taps[columns], number, real) for number in (0, 1)]
    shape[rows] = taps[rows].size

    def term(b: Body, numbers: Sequence[int]) -> SSAValue:
        source = sources[numbers[1]]
        place: list[IndexLike] = [*b.spatial]
        weights: list[SSAValue] = []
        for (axis, own), number in zip(taps.items(), numbers, strict=True):
            assert own.weights is not None, "linear interpolation has weights"
            if axis == rows or source is data:
                place[axis] = b.as_index(b.read(own.indices, number, b.spatial[axis]))
            weights.append(b.read(own.weights, number, b.spatial[axis]))
        return b.times(b.times(*weights), convert_scalar(b, b.read(source, *place), real))

    def fill(b: Body) -> SSAValue:
        total, *others = (term(b, numbers) for numbers in product((0, 1), repeat=2))
        for other in others:
            total = b.plus(total, other)
        for axis, own in taps.items():
            total = own.extrapolated(b, total, b.spatial[axis])
        return finished(b, total, target)

    return emitter.compute("resize", variables("i", shape), target, fill)


def _grows(at: AxisPlaces) -> bool:
    """Returns whether the size is certainly at least the extent."""
    low, _ = ShapeEnvironment().interval(at.size - at.extent)
    return low is not None and low >= 0


def _gathered(
    emitter: TopiBuilder, data: SSAValue, shape: Sequence[Dim], axis: int, taps: Taps, number: int, real: Attribute
) -> SSAValue:
    """The element below (`number` 0) or above (1) each place along the innermost axis.

    An axis that grows reads each row several times. A row that is gathered once is then read as vectors.
    """

    def fill(b: Body) -> SSAValue:
        place: list[IndexLike] = [*b.spatial]
        place[axis] = b.as_index(b.read(taps.indices, number, b.spatial[axis]))
        return convert_scalar(b, b.read(data, *place), real)

    return emitter.compute("resize_columns", variables("i", shape), real, fill)


def _kept_shape(emitter: TopiBuilder, data: SSAValue, axes: Collection[int]) -> list[Dim]:
    """The data's extents, but those of the result along other axes than `axes`: a block may have a name in the data."""
    pairs = enumerate(zip(shape_of(data), emitter.result_shape, strict=True))
    return [own if axis in axes else result for axis, (own, result) in pairs]


def _weighed_in(element: Attribute) -> AnyFloat:
    """The type of weights and sums."""
    return f32 if isinstance(element, AnyFloat) and not isinstance(element, Float64Type) else f64


def _converted(emitter: TopiBuilder, data: SSAValue, shape: Sequence[Dim], target: Attribute) -> SSAValue:
    def fill(b: Body) -> SSAValue:
        return finished(b, b.read(data, *b.spatial), target)

    return emitter.compute("resize_cast", variables("i", shape), target, fill)


def _resized_axis(
    emitter: TopiBuilder,
    data: SSAValue,
    shape: Sequence[Dim],
    axis: int,
    taps: Taps,
    real: Attribute,
    target: Attribute,
) -> SSAValue:
    """The data in `shape`, in which one axis has another size: for each element the sum of those that take part."""
    names = variables("i", shape)

    def term(b: Body, number: IndexLike) -> SSAValue:
        place: list[IndexLike] = [*b.spatial]
        place[axis] = b.as_index(b.read(taps.indices, number, b.spatial[axis]))
        value = b.read(data, *place)
        if taps.weights is None:
            return value
        return b.times(b.read(taps.weights, number, b.spatial[axis]), convert_scalar(b, value, real))

    def unrolled(b: Body, count: int) -> SSAValue:
        total = term(b, 0)
        for number in range(1, count):
            total = b.plus(total, term(b, number))
        return finished(b, taps.extrapolated(b, total, b.spatial[axis]), target)

    count = taps.count
    if isinstance(count, int) and count <= UNROLLED:
        return emitter.compute("resize", names, target, lambda b: unrolled(b, count))
    steps: dict[str, Dim] = {"t": count}
    total = emitter.compute(
        "resize_sum", names, real, lambda b: b.plus(b.accumulators[0], term(b, b.reduction[0])), reduce=steps, init=[0]
    )

    def finish(b: Body) -> SSAValue:
        return finished(b, taps.extrapolated(b, b.read(total, *b.spatial), b.spatial[axis]), target)

    return emitter.compute("resize", names, target, finish)


def finished(b: Body, value: SSAValue, target: Attribute) -> SSAValue:
    """A value in the result's type; of floats integers by rounding to even and clipping, 0 for NaN."""
    if not isinstance(value.type, AnyFloat) or isinstance(target, AnyFloat) or value.type == target:
        return convert_scalar(b, value, target)
    wide = b.add(math.RoundEvenOp(convert_scalar(b, value, f64)))
    least, most = value_range(target)
    low, high = b.constant(least, f64), b.constant(most, f64)
    is_number = b.add(arith.CmpfOp(wide, wide, "ord"))
    is_high = b.add(arith.CmpfOp(wide, high, "oge"))
    inside = b.add(SelectOp(b.add(arith.CmpfOp(wide, low, "olt")), low, wide))
    fits = b.add(arith.AndIOp(is_number, b.add(arith.CmpfOp(wide, high, "olt"))))
    number = convert_scalar(b, b.add(SelectOp(fits, inside, b.constant(0, f64))), target)
    return b.add(SelectOp(is_high, b.constant(most, target), number))
