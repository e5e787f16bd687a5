"""Images with channels last, which are transposed for operators on images with channels first."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.node import NodeView


def channels_first(node: NodeView, value: SSAValue) -> SSAValue:
    """Returns `value` with its last axis moved to axis 1."""
    rank = len(shape_of(value.type))
    return node.emit("transpose", value, axes=(0, rank - 1, *range(1, rank - 1)))


def channels_last(node: NodeView, value: SSAValue) -> SSAValue:
    """Returns `value` with axis 1 moved to the end."""
    return node.emit("transpose", value, axes=(0, *range(2, len(shape_of(value.type))), 1))
