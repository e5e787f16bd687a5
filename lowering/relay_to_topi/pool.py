"""Pooling operators: `topi.pool2d` for the channels-first layouts, a guarded compute for any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import tensor_type
from xrelay.dialects.relay.layout.layout import Layout, transform_shape
from xrelay.dialects.relay.ops.nn_pool import AvgPool2DOp, GlobalAvgPool2DOp, GlobalMaxPool2DOp, MaxPool2DOp, Pool2DOp
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.named import Pool2dOp
from xrelay.dialects.topi.named.pool2d import Kind, lowest
from xrelay.dialects.topi.shapes import shape_of
from xrelay.errors import LoweringError
from xrelay.lowering.relay_to_topi.conv import layout_indices, primal_indices
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter, element_of
from xrelay.lowering.relay_to_topi.half_precision import in_single
from xrelay.lowering.relay_to_topi.strategies import Build, implements


def _layout(op: Operation) -> Layout:
    return Layout.parse(cast(StringAttr, op.properties["layout"]).data)


def _channels_first(op: Operation) -> str | None:
    layout = _layout(op)
    known = str(layout) == "NCHW" or (layout.primal == "NCHW" and layout.factor("C") is not None and len(layout) == 5)
    return None if known else f"layout {layout} is neither NCHW nor NCHW[x]c"


def _pool(emitter: TopiEmitter, kind: Kind, data: SSAValue, type: Attribute) -> SSAValue:
    """Add the `topi.pool2d` that the relay op means, of `data` in a channels-first layout."""
    op = cast(Pool2DOp, emitter.op)
    pool = Pool2dOp(
        data,
        type,
        kind,
        op.size_pair,
        strides=op.stride_pair,
        padding=op.pads,
        dilation=op.dilation_pair,
        count_include_pad=kind == "avg" and emitter.flag("count_include_pad"),
    )
    return emitter.insert(pool).results[0]


def _named(kind: Kind) -> Build:
    return lambda emitter: [_pool(emitter, kind, emitter.operand(0), emitter.result_type)]


def _any_layout(kind: Kind) -> Build:
    """Transform to NCHW in the index expressions: correct everywhere."""

    def build(emitter: TopiEmitter) -> Sequence[SSAValue]:
        data, layout = emitter.operand(0), _layout(emitter.op)
        plain = Layout.parse("NCHW")
        moved = relayout(emitter, data, layout, plain)
        type = tensor_type(transform_shape(emitter.result_shape, layout, plain), element_of(data))
        return [relayout(emitter, _pool(emitter, kind, moved, type), plain, layout)]

    return build


def relayout(emitter: TopiEmitter, data: SSAValue, source: Layout, target: Layout) -> SSAValue:
    """`data` of layout `source` in layout `target`; elements that only padding makes are zero."""
    extents = source.primal_extents(shape_of(data))
    shape = target.shape_from(extents)
    names = {f"i{axis}": int(cast(int, extent)) for axis, extent in enumerate(shape)}
    element = element_of(data)
    padded = target.primal_extents(shape) != extents

    def fill(b: Body) -> SSAValue:
        at = primal_indices(target, b.spatial)

        def read() -> SSAValue:
            return b.read(data, *layout_indices(source, at))

        if not padded:
            return read()
        letters = list(extents)
        inside = b.in_bounds(
            [at[letter] for letter in letters], [int(cast(int, extents[letter])) for letter in letters]
        )
        return b.guard(inside, element, read, lambda: b.constant(0, element))

    return emitter.compute("layout_transform", names, element, fill)


def _summed(kind: Kind, build: Build) -> Build:
    """`build`, adding up in f32 where it adds up."""
    return in_single(build) if kind == "avg" else build


_KINDS: dict[type[RelayOp], Kind] = {MaxPool2DOp: "max", AvgPool2DOp: "avg"}

for _op, _kind in _KINDS.items():
    implements(_op, f"{_op.relay_name()}.pool2d", condition=_channels_first)(_summed(_kind, _named(_kind)))
    implements(_op, f"{_op.relay_name()}.any_layout", priority=5)(_summed(_kind, _any_layout(_kind)))


@implements(GlobalAvgPool2DOp, "global_avg_pool2d.generic")
@in_single
def build_global_avg_pool2d(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The sum over height and width, then a division by their product."""
    data, layout = emitter.operand(0), _layout(emitter.op)
    shape, element = shape_of(data), element_of(data)
    if not isinstance(element, AnyFloat):
        raise LoweringError(f"{emitter.op.name} of {element}: only floats have a mean")
    rows, columns = layout.index("H"), layout.index("W")
    out = emitter.result_shape

    def total(b: Body) -> SSAValue:
        at = [*b.spatial]
        at[rows], at[columns] = b.reduction
        return b.accumulate(b.accumulators[0], b.read(data, *at))

    names = {f"i{axis}": extent for axis, extent in enumerate(out)}
    sums = emitter.compute(
        "global_pool_sum", names, element, total, reduce={"y": shape[rows], "x": shape[columns]}, init=[0]
    )

    count = shape[rows] * shape[columns]
    # The mean of no elements is not a number: zero times infinity.
    scale = 1 / count if count else float("inf")

    def mean(b: Body) -> SSAValue:
        return b.times(b.read(sums, *b.spatial), b.constant(scale, element))

    return [emitter.compute("nn_global_avg_pool2d", names, element, mean)]


@implements(GlobalMaxPool2DOp, "global_max_pool2d.generic")
def build_global_max_pool2d(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The maximum over height and width."""
    data, layout = emitter.operand(0), _layout(emitter.op)
    shape, element = shape_of(data), element_of(data)
    rows, columns = layout.index("H"), layout.index("W")

    def largest(b: Body) -> SSAValue:
        at = [*b.spatial]
        at[rows], at[columns] = b.reduction
        return b.largest(b.accumulators[0], b.read(data, *at))

    names = {f"i{axis}": extent for axis, extent in enumerate(emitter.result_shape)}
    reduce = {"y": shape[rows], "x": shape[columns]}
    return [emitter.compute("nn_global_max_pool2d", names, element, largest, reduce=reduce, init=[lowest(element)])]
