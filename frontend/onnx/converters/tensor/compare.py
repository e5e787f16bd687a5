"""Equal, Less, Greater, LessOrEqual, GreaterOrEqual and Where."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts
from xrelay.frontend.onnx.converters.shared.elementwise import converts_binary

for _op_type, _relay_name in {"Equal": "equal", "Less": "less", "Greater": "greater"}.items():
    converts_binary(_op_type, _relay_name)
for _op_type, _relay_name in {"LessOrEqual": "less_equal", "GreaterOrEqual": "greater_equal"}.items():
    converts_binary(_op_type, _relay_name, since=12)


@converts("Where", since=9)
def convert_where(node: NodeView) -> SSAValue:
    """`where`."""
    return node.emit("where", node.input(0), node.input(1), node.input(2))
