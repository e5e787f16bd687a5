"""CumSum and CumProd."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts


@converts("CumSum", since=11, attributes=("exclusive", "reverse"))
def convert_cum_sum(node: NodeView) -> SSAValue:
    """`cumsum`."""
    return _accumulated(node, "cumsum")


@converts("CumProd", since=26, attributes=("exclusive", "reverse"))
def convert_cum_prod(node: NodeView) -> SSAValue:
    """`cumprod`."""
    return _accumulated(node, "cumprod")


def _accumulated(node: NodeView, relay_name: str) -> SSAValue:
    """The relay op; if the axis is known only at run time, the op along every axis, and a selection of one."""
    if node.constant(1) is not None:
        return _along(node, relay_name, node.required_int(1, "axis"))
    rank = len(node.shape(0))
    if not rank:
        raise node.error("data of rank 0 has no axis")
    each = node.make_tuple([_along(node, relay_name, axis) for axis in range(rank)])
    return node.emit("take", node.emit("stack", each, axis=0), node.reshape(node.input(1), ()), axis=0, mode="raise")


def _along(node: NodeView, relay_name: str, axis: int) -> SSAValue:
    """The relay op along `axis`; with `reverse`, the data is reversed before and after."""
    data, reverse = node.input(0), node.attribute_flag("reverse")
    if reverse:
        data = node.emit("reverse", data, axis=axis)
    total = node.emit(relay_name, data, axis=axis, exclusive=node.attribute_flag("exclusive"))
    return node.emit("reverse", total, axis=axis) if reverse else total
