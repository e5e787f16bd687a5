"""ArgMax and ArgMin."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import ConvertFunction, NodeView, converts


def _arg_reduction(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        index = node.emit(
            relay_name,
            node.input(0),
            axis=node.attribute_int("axis", 0),
            keepdims=node.attribute_flag("keepdims", True),
            select_last_index=node.attribute_flag("select_last_index"),
        )
        return node.emit("cast", index, dtype="int64")

    return convert


for _op_type, _relay_name in {"ArgMax": "argmax", "ArgMin": "argmin"}.items():
    converts(_op_type, attributes=("axis", "keepdims", "select_last_index"))(_arg_reduction(_relay_name))
