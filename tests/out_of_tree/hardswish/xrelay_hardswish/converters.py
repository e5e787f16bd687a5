"""The ONNX converter."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.extend.converters import NodeView, converts


@converts("HardSwish", since=14)
def convert_hard_swish(node: NodeView) -> SSAValue:
    """Converts the node to one op."""
    return node.emit("contrib.hard_swish", node.input(0))
