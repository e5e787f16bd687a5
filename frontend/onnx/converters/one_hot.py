"""OneHot: selects between two values by comparing an index with the position along a new axis."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, Signedness, i64
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.extents import known_axis
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("OneHot", since=9, attributes=("axis",))
def convert_one_hot(node: NodeView) -> SSAValue:
    """The second value at the position along the new axis that equals the index, else the first."""
    axis = known_axis(node, node.attribute_int("axis", -1), len(node.shape(0)) + 1)
    if node.shape(1) not in ((), (1,)):
        raise node.error(f"input #1 (depth) must be one number, found {node.input(1).type}")
    off, on = (_value(node, index) for index in range(2))
    if node.constant(1) is None and node.known_ints(1) is None:
        return _of_computed_depth(node, axis, on, off)
    depth = node.required_int(1, "depth")
    if depth < 0:
        raise node.error(f"input #1 (depth) must not be negative, found {depth}")
    return node.emit("one_hot", _from_the_front(node, _integer(node, depth)), on, off, depth=depth, axis=axis)


def _of_computed_depth(node: NodeView, axis: int, on: SSAValue, off: SSAValue) -> SSAValue:
    """Comparison of the indices with the positions along an axis whose extent is known only at run time."""
    depth = node.emit("cast", node.reshape(node.input(1), ()), dtype=i64)
    ones = node.emit("dyn.full", _integer(node, 1), node.emit("expand_dims", depth, axis=0))
    places = node.emit("cumsum", ones, axis=0, exclusive=True)
    behind = len(node.shape(0)) - axis
    indices = node.emit("cast", _from_the_front(node, depth), dtype=i64)
    is_place = node.emit(
        "equal",
        node.emit("expand_dims", indices, axis=axis),
        node.emit("expand_dims", places, axis=1, num_newaxis=behind),
    )
    return node.emit("where", is_place, on, off)


def _from_the_front(node: NodeView, depth: SSAValue) -> SSAValue:
    """The indices as integers; from opset 11 on negative ones count from the end."""
    indices, element = node.input(0), node.element_type(0)
    if not isinstance(element, IntegerType):
        indices, element = node.emit("cast", indices, dtype=i64), i64
    if element.signedness.data == Signedness.UNSIGNED or node.opset < 11:
        return indices
    # A narrow type may not represent the depth.
    indices = indices if element == i64 else node.emit("cast", indices, dtype=i64)
    negative = node.emit("less", indices, _integer(node, 0))
    return node.emit("where", negative, node.emit("add", indices, depth), indices)


def _integer(node: NodeView, number: int) -> SSAValue:
    return node.emit_ints(number)


def _value(node: NodeView, index: int) -> SSAValue:
    """One of the two values, as a scalar."""
    if len(node.shape(2)) != 1:
        raise node.error(f"input #2 (values) must be a list of two, found {node.input(2).type}")
    place = node.emit_ints(index, f"value_{index}")
    return node.emit("take", node.input(2), place, axis=0, mode="clip")
