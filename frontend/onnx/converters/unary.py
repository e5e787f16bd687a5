"""ONNX ops that are one unary relay op."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction, converts


def register_unary(ops: Mapping[str, str]) -> None:
    """Register each ONNX op type of `ops` as the relay op it names. `consumed_inputs` is a hint of opset 1."""
    for op_type, relay_name in ops.items():
        converts(op_type, attributes=("consumed_inputs",))(_converter(relay_name))


def _converter(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        return node.emit(relay_name, node.input(0))

    return convert
