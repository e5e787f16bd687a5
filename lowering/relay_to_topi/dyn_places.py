"""Operators that operands tell where to read, as large as the type says: `dyn.strided_slice` and `dyn.nn.pad`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.core.recorded_requirements import made_extents
from xrelay.dialects.relay.core.types import shape_of as shape_of_type
from xrelay.dialects.relay.ops.algorithm_select import DynStridedSliceOp
from xrelay.dialects.relay.ops.dyn_pad import DynPadOp
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.affine_products import times
from xrelay.index_algebra.dims import ANY, Dim, maximum, minimum
from xrelay.lowering.relay_to_topi.data_movement import build_padded
from xrelay.lowering.relay_to_topi.elementwise import convert_scalar
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter
from xrelay.lowering.relay_to_topi.gather import as_index, checked_indices
from xrelay.lowering.relay_to_topi.movement import moved
from xrelay.lowering.relay_to_topi.strategies import implements
from xrelay.target.strategy import DEFAULT_PRIORITY


def _has_named_extents(op: Operation) -> str | None:
    """Why nobody could allocate the result: the op makes its extents, or they have no names."""
    if made := made_extents(op):
        return f"it makes the extent {made[0].name}"
    type = op.results[0].type
    return f"its result is {type}" if isinstance(type, TensorType) and ANY in shape_of_type(type) else None


@implements(DynStridedSliceOp, "dyn.strided_slice.named", priority=DEFAULT_PRIORITY + 1, condition=_has_named_extents)
def build_strided_slice(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """A step apart from a first place, along each axis that has numbers; how many is what the type says."""
    begin, strides = emitter.operand(1), emitter.operand(3)
    extents = shape_of(emitter.operand(0))[: emitter.known(begin, "the numbers of a slice")[0]]
    firsts = [
        emitter.compute(
            "slice_first", {}, i64, lambda b, axis=axis, extent=extent: _first(b, begin, strides, axis, extent)
        )
        for axis, extent in enumerate(extents)
    ]

    def place(b: Body, axis: int, index: AffineExpr) -> IndexLike:
        if axis >= len(firsts):
            return index
        first, step = (b.as_index(as_index(b, value)) for value in (b.read(firsts[axis]), b.read(strides, axis)))
        return times(index, step) + first

    return moved(emitter, "dyn_strided_slice", place)


def _first(b: Body, begin: SSAValue, strides: SSAValue, axis: int, extent: Dim) -> SSAValue:
    """Where a slice begins along an axis; downwards it may be at -1, before the first place."""
    first, step = (convert_scalar(b, b.read(operand, axis), i64) for operand in (begin, strides))
    return brought_inside(b, first, b.size(extent, i64), step)


def brought_inside(b: Body, bound: SSAValue, size: SSAValue, step: SSAValue) -> SSAValue:
    """A bound of a slice by numpy's rule: negative ones count from the end, those outside become the nearest place.

    Upwards places lie in [0, size], downwards in [-1, size - 1].
    """
    zero, minus_one = b.constant(0, i64), b.constant(-1, i64)
    lowest = b.add(SelectOp(b.add(CmpiOp(step, zero, "slt")), minus_one, zero))
    from_end = b.add(CmpiOp(bound, zero, "slt"))
    counted = b.add(SelectOp(from_end, b.plus(bound, size), bound))
    return b.minimum(b.maximum(counted, lowest), b.plus(size, lowest))


@implements(DynPadOp, "dyn.nn.pad.named", condition=_has_named_extents)
def build_pad(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """As `nn.pad`, with widths that are checked where it runs."""
    shape, grown, mode = shape_of(emitter.operand(0)), emitter.result_shape, emitter.text("pad_mode")
    widths: list[SSAValue] = []
    for axis, (extent, room) in enumerate(zip(shape, grown, strict=True)):
        most = {"constant": room, "edge": minimum(extent, 1) * room, "reflect": maximum(extent, 1) - 1}[mode]
        widths.append(checked_indices(emitter, emitter.operand(1), most + 1, part=axis, from_end=False))

    def before(b: Body) -> Sequence[IndexLike]:
        return [b.as_index(b.read(pair, 0)) for pair in widths]

    return build_padded(emitter, emitter.operand(2), before, [True] * len(shape))
