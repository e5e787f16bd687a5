"""Operators with a shape operand whose result type is fully named. The shape operand is not read.

Extents introduced by the op itself cannot be allocated; an earlier op has to name them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of, read_broadcast
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.movement import tiled
from xrelay.dialects.relay.computes.reshape import reshaped
from xrelay.dialects.relay.ops.dyn_shapes import CollapseSumToOp, DynBroadcastToOp, DynFullOp, DynReshapeOp, DynTileOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim, maximum
from xrelay.lowering.relay_to_topi.dyn_shapes import build_reshape, build_tile
from xrelay.lowering.relay_to_topi.registry import implements


@implements(DynReshapeOp, "dyn.reshape.named")
def build_reshape(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the element at the same row-major index."""
    return [reshaped(emitter)]


@implements(DynTileOp, "dyn.tile.named")
def build_tile(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads at the remainder of the index."""
    return tiled(emitter)


@implements(DynBroadcastToOp, "dyn.broadcast_to.named")
def build_broadcast_to(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Broadcasts as numpy does."""
    data, shape = emitter.operand(0), emitter.result_shape
    names = variables("i", shape)
    return [emitter.compute("broadcast_to", names, element_of(data), lambda b: read_broadcast(b, data, shape))]


@implements(CollapseSumToOp, "collapse_sum_to.named")
@in_single
def build_collapse_sum_to(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Sums along removed axes and along axes that become shorter.

    An axis that is known only at run time to be kept or summed has `extent / wanted` terms: one, or all.
    """
    data, target = emitter.operand(0), emitter.result_shape
    shape, element = shape_of(data), element_of(data)
    lacking = len(shape) - len(target)
    terms: dict[int, Dim] = dict(enumerate(shape[:lacking]))
    for axis, (own, wanted) in enumerate(zip(shape[lacking:], target, strict=True), start=lacking):
        if own != wanted:
            terms[axis] = own if wanted == 1 else own // maximum(1, wanted)

    def add(b: Body) -> SSAValue:
        folded = dict(zip(terms, b.reduction, strict=True))
        at = [
            folded[axis] if axis < lacking else b.spatial[axis - lacking] + folded.get(axis, 0)
            for axis in range(len(shape))
        ]
        value = b.read(data, *at)
        return b.accumulate(b.accumulators[0], value) if terms else value

    reduce = {f"k{axis}": count for axis, count in terms.items()}
    names = variables("i", target)
    return [emitter.compute("collapse_sum", names, element, add, reduce=reduce, init=[0] if terms else [])]


@implements(DynFullOp, "dyn.full.named")
def build_full(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Fills with the value."""
    value, element = emitter.operand(0), emitter.result_type.element_type
    names = variables("i", emitter.result_shape)
    return [emitter.compute("full", names, element, lambda b: convert_scalar(b, b.read(value), element))]
