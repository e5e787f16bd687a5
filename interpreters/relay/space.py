"""Blocks of elements as channels."""

from __future__ import annotations

from xrelay.dialects.relay.ops.vision_reorg import YoloReorgOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(YoloReorgOp)
def evaluate_yolo_reorg(op: YoloReorgOp, data: Array) -> Array:
    """Splits rows and columns into block axes and moves these before the channels."""
    s, (n, channels, rows, columns) = op.stride.value.data, data.shape
    apart = data.reshape(n, channels // s**2, rows, s, columns, s).transpose(0, 3, 5, 1, 2, 4)
    return apart.reshape(n, channels * s**2, rows // s, columns // s)
