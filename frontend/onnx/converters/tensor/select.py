"""Where."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Where", since=9)
def convert_where(node: NodeView) -> SSAValue:
    """`where`."""
    return node.emit("where", node.input(0), node.input(1), node.input(2))
