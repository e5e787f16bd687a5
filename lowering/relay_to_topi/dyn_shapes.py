"""Operators whose shape is an operand, where the type says all of it: that operand is not read.

Extents that the op itself makes nobody could allocate; an op before it has to name them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.algorithm_sort import DynTopKOp
from xrelay.dialects.relay.ops.dyn_shapes import DynBroadcastToOp, DynFullOp, DynReshapeOp, DynTileOp
from xrelay.dialects.topi.build import variables
from xrelay.lowering.relay_to_topi.algorithm_sort import build_topk
from xrelay.lowering.relay_to_topi.data_movement import build_reshape
from xrelay.lowering.relay_to_topi.elementwise import convert_scalar
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter, element_of, read_broadcast
from xrelay.lowering.relay_to_topi.movement import build_tile
from xrelay.lowering.relay_to_topi.strategies import implements

implements(DynReshapeOp, "dyn.reshape.named")(build_reshape)
implements(DynTileOp, "dyn.tile.named")(build_tile)
implements(DynTopKOp, "dyn.topk.named")(build_topk)


@implements(DynBroadcastToOp, "dyn.broadcast_to.named")
def build_broadcast_to(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """As numpy broadcasts."""
    data, shape = emitter.operand(0), emitter.result_shape
    names = variables("i", shape)
    return [emitter.compute("broadcast_to", names, element_of(data), lambda b: read_broadcast(b, data, shape))]


@implements(DynFullOp, "dyn.full.named")
def build_full(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The value everywhere."""
    value, element = emitter.operand(0), emitter.result_type.element_type
    names = variables("i", emitter.result_shape)
    return [emitter.compute("full", names, element, lambda b: convert_scalar(b, b.read(value), element))]
