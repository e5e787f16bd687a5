"""ArgMax, ArgMin and CumSum."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction, converts


def _flag(node: NodeView, name: str, default: int = 0) -> bool:
    return bool(node.attribute_int(name, default, check=lambda value: value in (0, 1)))


def _arg_reduction(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        index = node.emit(
            relay_name,
            node.input(0),
            axis=node.attribute_int("axis", 0),
            keepdims=_flag(node, "keepdims", 1),
            select_last_index=_flag(node, "select_last_index"),
        )
        return node.emit("cast", index, dtype="int64")

    return convert


for _op_type, _relay_name in {"ArgMax": "argmax", "ArgMin": "argmin"}.items():
    converts(_op_type, attributes=("axis", "keepdims", "select_last_index"))(_arg_reduction(_relay_name))


@converts("CumSum", since=11, attributes=("exclusive", "reverse"))
def convert_cum_sum(node: NodeView) -> SSAValue:
    """`cumsum`; where only the run tells the axis, that along each, and the one that is wanted."""
    if node.constant(1) is not None:
        return _sums_along(node, int(node.required_scalar(1, "axis")))
    if not node.shape(0):
        raise node.error("data of rank 0 have no axis")
    sums = node.emit("stack", node.make_tuple([_sums_along(node, axis) for axis in range(len(node.shape(0)))]), axis=0)
    return node.emit("take", sums, node.reshape(node.input(1), ()), axis=0, mode="raise")


def _sums_along(node: NodeView, axis: int) -> SSAValue:
    """`cumsum`; with `reverse` of the data the other way round, and back."""
    data, reverse = node.input(0), _flag(node, "reverse")
    if reverse:
        data = node.emit("reverse", data, axis=axis)
    total = node.emit("cumsum", data, axis=axis, exclusive=_flag(node, "exclusive"))
    return node.emit("reverse", total, axis=axis) if reverse else total
