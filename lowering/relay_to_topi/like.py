"""Ops that take a shape or an element type from another tensor."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, read_broadcast
from xrelay.dialects.relay.computes.movement import moved
from xrelay.dialects.relay.ops.tensor.like import BroadcastToLikeOp, CastLikeOp, ReshapeLikeOp, SliceLikeOp
from xrelay.dialects.topi.build import variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.lowering.relay_to_topi.data_movement import build_reshape
from xrelay.lowering.relay_to_topi.registry import implements

implements(ReshapeLikeOp, "reshape_like.generic")(build_reshape)


@implements(CastLikeOp, "cast_like.generic")
@implements(BroadcastToLikeOp, "broadcast_to_like.generic")
def build_like(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Broadcasts and converts each element to the result's type."""
    data, shape, element = emitter.operand(0), emitter.result_shape, emitter.result_type.element_type
    return [
        emitter.compute(
            "like", variables("i", shape), element, lambda b: convert_scalar(b, read_broadcast(b, data, shape), element)
        )
    ]


@implements(SliceLikeOp, "slice_like.generic")
def build_slice_like(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads at the same index."""
    return moved(emitter, "slice_like", lambda b, axis, index: index)
