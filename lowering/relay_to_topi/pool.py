"""Pools: topi's named pools for channels-first layouts, with layout transforms for other layouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import cast

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.computes.builder import Build, TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.layouts import layout_indices, primal_indices
from xrelay.dialects.relay.computes.wide_integers import in_long, is_whole
from xrelay.dialects.relay.layout.layout import Layout, transform_shape
from xrelay.dialects.relay.ops.nn_pool import (
    AVG_POOLS,
    GLOBAL_AVG_POOLS,
    GLOBAL_MAX_POOLS,
    MAX_POOLS,
    PoolOp,
    WindowPoolOp,
)
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.shared.types import tensor_type
from xrelay.dialects.topi import named
from xrelay.dialects.topi.build import Body, Number, variables
from xrelay.dialects.topi.named.pool import Kind, lowest
from xrelay.dialects.topi.named.window import TAPS
from xrelay.dialects.topi.shapes import shape_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim, maximum, product
from xrelay.index_algebra.windows import sides_of
from xrelay.lowering.relay_to_topi.registry import implements

TOPI_OPS: dict[str, type[named.PoolOp]] = {"W": named.Pool1dOp, "HW": named.Pool2dOp, "DHW": named.Pool3dOp}
"""The named pool for each set of spatial axes."""


def _channels_first(op: Operation) -> str | None:
    (layout, out_layout), plain = cast(PoolOp, op).layouts, cast(PoolOp, op).image_axes
    if layout != out_layout:
        return f"layouts {layout} and {out_layout} differ"
    blocked = layout.primal == plain and layout.factor("C") is not None and len(layout) == len(plain) + 1
    block = shape_of_type(op.operands[0].type)[-1]
    if blocked and not isinstance(block, int):
        return f"the extent {block} of its blocks has a name"
    return None if str(layout) == plain or blocked else f"layout {layout} is neither {plain} nor {plain}[x]c"


def _pool(emitter: TopiBuilder, kind: Kind, data: SSAValue, type: Attribute) -> SSAValue:
    """Emits the topi pool for the relay op, of `data` in a channels-first layout."""
    op = cast(WindowPoolOp, emitter.op)
    window = op.window(op.sizes)
    pool = TOPI_OPS[op.AXES](
        data,
        type,
        kind,
        op.sizes,
        strides=[axis.stride for axis in window],
        padding=sides_of(window),
        dilation=[axis.dilation for axis in window],
        count_include_pad=kind == "avg" and emitter.flag("count_include_pad"),
    )
    return emitter.insert(pool).results[0]


def _named(kind: Kind) -> Build:
    return lambda emitter: [_pool(emitter, kind, emitter.operand(0), emitter.result_type)]


def _any_layout(kind: Kind) -> Build:
    """Returns an implementation that transforms to the plain layout in index expressions."""

    def build(emitter: TopiBuilder) -> Sequence[SSAValue]:
        op = cast(PoolOp, emitter.op)
        data, (layout, out_layout), plain = emitter.operand(0), op.layouts, Layout.parse(op.image_axes)
        moved = relayout(emitter, data, layout, plain)
        type = tensor_type(transform_shape(emitter.result_shape, out_layout, plain), element_of(data))
        return [relayout(emitter, _pool(emitter, kind, moved, type), plain, out_layout)]

    return build


def relayout(emitter: TopiBuilder, data: SSAValue, source: Layout, target: Layout) -> SSAValue:
    """Converts `data` from layout `source` to `target`; padding elements are zero."""
    extents = source.primal_extents(shape_of(data))
    shape = target.shape_from(extents)
    names = variables("i", shape)
    element = element_of(data)
    padded = target.primal_extents(shape) != extents

    def fill(b: Body) -> SSAValue:
        at = primal_indices(target, b.spatial)

        def read() -> SSAValue:
            return b.read(data, *layout_indices(source, at))

        if not padded:
            return read()
        letters = list(extents)
        inside = b.in_bounds([at[letter] for letter in letters], [extents[letter] for letter in letters])
        return b.guard(inside, element, read, lambda: b.constant(0, element))

    return emitter.compute("layout_transform", names, element, fill)


def _summed(kind: Kind, build: Build) -> Build:
    """Wraps `build` to sum in at least f32, or in i64 for integers, if it is a mean."""
    return of_any_number(build) if kind == "avg" else build


def of_any_number(build: Build) -> Build:
    """Wraps `build`, which computes means of f32, f64 and i64, for elements of any width."""
    of_floats, of_integers = in_single(build), in_long(build)

    @wraps(build)
    def mean(emitter: TopiBuilder) -> Sequence[SSAValue]:
        element = element_of(emitter.operand(0))
        if not isinstance(element, AnyFloat) and not is_whole(element):
            raise LoweringError(f"{emitter.op.name} of {element}: only numbers have a mean", help="cast them before")
        return of_floats(emitter) if isinstance(element, AnyFloat) else of_integers(emitter)

    return mean


Fold = Callable[[Body, SSAValue, SSAValue], SSAValue]


def _over_image(emitter: TopiBuilder, label: str, first: Number, fold: Fold) -> tuple[SSAValue, Dim]:
    """Folds all elements of each image, in the data's layout; returns the result and the number of elements."""
    op = cast(PoolOp, emitter.op)
    data, layout = emitter.operand(0), op.layouts[0]
    shape, element = shape_of(data), element_of(data)
    places = {layout.index(axis): axis for axis in op.AXES}

    def body(b: Body) -> SSAValue:
        taps = dict(zip(op.AXES, b.reduction, strict=True))
        at = [taps[places[number]] if number in places else index for number, index in enumerate(b.spatial)]
        return fold(b, b.accumulators[0], b.read(data, *at))

    # Blocks have the layout's size, even if the data's extent is symbolic.
    kept = [extent if at.factor is None else at.factor for extent, at in zip(shape, layout.axes, strict=True)]
    names: dict[str, Dim] = {f"i{number}": 1 if number in places else extent for number, extent in enumerate(kept)}
    reduce = {TAPS[axis]: shape[layout.index(axis)] for axis in op.AXES}
    return emitter.compute(label, names, element, body, reduce=reduce, init=[first]), product(list(reduce.values()))


def _in_out_layout(emitter: TopiBuilder, result: SSAValue) -> SSAValue:
    """Converts `result` from the data's layout to the op's `out_layout`."""
    layout, out_layout = cast(PoolOp, emitter.op).layouts
    return result if layout == out_layout else relayout(emitter, result, layout, out_layout)


@of_any_number
def build_global_avg_pool(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Sums over the spatial axes and divides by the number of elements."""
    element = element_of(emitter.operand(0))
    sums, count = _over_image(emitter, "global_pool_sum", 0, lambda b, total, x: b.accumulate(total, x))

    # The mean of no elements is NaN: zero times infinity.
    def scale(b: Body) -> SSAValue:
        if isinstance(count, int):
            return b.constant(1 / count if count else float("inf"), element)
        return b.divide(b.constant(1, element), b.size(count, element))

    def mean(b: Body) -> SSAValue:
        total = b.read(sums, *b.spatial)
        if isinstance(element, AnyFloat):
            return b.times(total, scale(b))
        return b.divide(total, b.size(maximum(1, count), element))

    names = variables("i", shape_of(sums))
    label = f"nn_{emitter.op.name.rpartition('.')[2]}"
    return [_in_out_layout(emitter, emitter.compute(label, names, element, mean))]


def build_global_max_pool(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Folds the maximum over the spatial axes."""
    label, first = f"nn_{emitter.op.name.rpartition('.')[2]}", lowest(element_of(emitter.operand(0)))
    result, _ = _over_image(emitter, label, first, lambda b, largest, x: b.largest(largest, x))
    return [_in_out_layout(emitter, result)]


_KINDS: tuple[tuple[Kind, Sequence[type[WindowPoolOp]]], ...] = (("max", MAX_POOLS), ("avg", AVG_POOLS))

for _kind, _pools in _KINDS:
    for _op in _pools:
        _name, _build = _op.relay_name(), _summed(_kind, _named(_kind))
        implements(_op, f"{_name}.pool{len(_op.AXES)}d", condition=_channels_first)(_build)
        implements(_op, f"{_name}.any_layout", priority=5)(_summed(_kind, _any_layout(_kind)))
for _op in GLOBAL_AVG_POOLS:
    implements(_op, f"{_op.relay_name().removeprefix('nn.')}.generic")(build_global_avg_pool)
for _op in GLOBAL_MAX_POOLS:
    implements(_op, f"{_op.relay_name().removeprefix('nn.')}.generic")(build_global_max_pool)
