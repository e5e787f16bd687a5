"""Blocks of elements as channels: each element is read at one index of the data."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.reshape import reshaped_indices
from xrelay.dialects.relay.ops.vision_reorg import YoloReorgOp
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.relay_to_topi.registry import implements


@implements(YoloReorgOp, "vision.yolo_reorg.generic")
def build_yolo_reorg(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes the index in the block from the channel, after a reshape of the result to the data's shape."""
    data, stride = emitter.operand(0), emitter.integer("stride")
    shape, result = shape_of(data), emitter.result_shape
    batch, channels, rows, columns = shape
    # Avoids a division by zero in index expressions for data without channels.
    depth = channels // stride**2 or 1

    def read(b: Body) -> SSAValue:
        n, channel, row, column = map(b.expr, reshaped_indices(b, b.spatial, result, shape))
        place, channel = b.quotient(channel, depth), b.remainder(channel, depth)
        apart = [n, channel, row, place // stride, column, place % stride]
        return b.read(data, *reshaped_indices(b, apart, (batch, depth, rows, stride, columns, stride), shape))

    return [emitter.compute("yolo_reorg", result, element_of(data), read)]
