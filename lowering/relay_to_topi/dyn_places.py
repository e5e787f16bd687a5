"""Operators with positions from operands and symbolic result extents: `dyn.strided_slice` and `dyn.nn.pad`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, TensorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.checked_indices import as_index, checked_indices
from xrelay.dialects.relay.computes.movement import moved
from xrelay.dialects.relay.computes.padding import padded
from xrelay.dialects.relay.ops.algorithm_select import DynStridedSliceOp
from xrelay.dialects.relay.ops.dyn_pad import DynPadOp
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.affine_products import times
from xrelay.index_algebra.dims import ANY, Dim, maximum, minimum
from xrelay.lowering.relay_to_topi.registry import implements


def has_named_extents(op: Operation) -> str | None:
    """Returns why the result cannot be allocated (its extents are new or unnamed), or None."""
    if made := made_extents(op):
        return f"it makes the extent {made[0].name}; relay-name-extents tells it before"
    type = op.results[0].type
    return f"its result is {type}" if isinstance(type, TensorType) and ANY in shape_of_type(type) else None


def _says_places(op: Operation) -> str | None:
    """Returns why a slice is not supported, or None."""
    if cast(DynStridedSliceOp, op).slice_mode.data != "size":
        return "its ends are bounds, not numbers of elements; relay-name-extents computes these"
    return has_named_extents(op)


@implements(DynStridedSliceOp, "dyn.strided_slice.sizes", condition=_says_places)
def build_strided_slice(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads with a start and step along each sliced axis; the first and last indices are checked."""
    strides, shape = emitter.operand(3), shape_of(emitter.operand(0))
    (number,) = emitter.known(strides, "the numbers of a slice")
    places = [_places(emitter, axis, shape[axis], emitter.result_shape[axis]) for axis in range(number)]

    def place(b: Body, axis: int, index: AffineExpr) -> IndexLike:
        if axis >= len(places):
            return index
        first, step = b.read(places[axis], 0), as_index(b, b.read(strides, axis))
        return times(index, b.as_index(step)) + b.as_index(first)

    return moved(emitter, "dyn_strided_slice", place)


def _places(emitter: TopiBuilder, axis: int, extent: Dim, count: Dim) -> SSAValue:
    """Returns the first index, last index and magnitude of the step along an axis, checked; 0 if unused."""

    def fill(b: Body) -> SSAValue:
        first, step = (convert_scalar(b, b.read(emitter.operand(index), axis), i64) for index in (1, 3))
        last = b.plus(first, b.times(step, b.size(count - 1, i64)))
        size = b.maximum(step, b.minus(b.constant(0, i64), step))
        some, several = b.size(minimum(1, count), i64), b.size(minimum(1, maximum(0, count - 1)), i64)
        which = b.index(b.spatial[0])
        chosen = b.times(size, several)
        for number, value in enumerate((first, last)):
            here = b.add(CmpiOp(which, b.constant(number, IndexType()), "eq"))
            chosen = b.add(SelectOp(here, b.times(value, some), chosen))
        return b.checked_index(chosen, maximum(1, extent))

    return emitter.compute("slice_places", {"k": 3}, IndexType(), fill)


@implements(DynPadOp, "dyn.nn.pad.named", condition=has_named_extents)
def build_pad(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Pads like `nn.pad`, with widths that are checked at run time."""
    shape, grown, mode = shape_of(emitter.operand(0)), emitter.result_shape, emitter.text("pad_mode")
    widths: list[SSAValue] = []
    for axis, (extent, room) in enumerate(zip(shape, grown, strict=True)):
        most = {"constant": room, "edge": minimum(extent, 1) * room, "reflect": maximum(extent, 1) - 1}[mode]
        widths.append(checked_indices(emitter, emitter.operand(1), most + 1, part=axis, from_end=False))

    def before(b: Body) -> Sequence[IndexLike]:
        return [b.as_index(b.read(pair, 0)) for pair in widths]

    return [padded(emitter, emitter.operand(2), before, [True] * len(shape))]
