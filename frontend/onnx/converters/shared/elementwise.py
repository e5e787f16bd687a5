"""Registers converters of elementwise operators: a relay operator on one input, or on two that broadcast."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.extents import known_axis
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.index_algebra.dims import certainly_differ, shape_text

_FIRST_TO_BROADCAST = 7
"""The opset from which on the operands of every operator broadcast."""


def converts_unary(op_type: str, relay_name: str, *, since: int = 1, limits: str = "") -> None:
    """Registers a converter to a relay operator on the only input."""

    def convert(node: NodeView) -> SSAValue:
        return node.emit(relay_name, node.input(0))

    # `consumed_inputs` is an optimisation hint of opset 1.
    converts(op_type, since=since, attributes=("consumed_inputs",) if since == 1 else (), limits=limits)(convert)


def converts_binary(op_type: str, relay_name: str, *, since: int = _FIRST_TO_BROADCAST) -> None:
    """Registers a converter to a relay operator on two inputs, which broadcast.

    Operators that are older than opset 7 also get a converter for the opsets before.
    """

    def convert(node: NodeView) -> SSAValue:
        return node.emit(relay_name, node.input(0), node.input(1))

    converts(op_type, since=since)(convert)
    if since == _FIRST_TO_BROADCAST:
        converts_limited(op_type, relay_name)


def converts_limited(op_type: str, relay_name: str) -> None:
    """Registers a converter for the opsets before 7, in which input 1 broadcasts only if `broadcast` is set."""

    def convert(node: NodeView) -> SSAValue:
        """Returns the relay operator; the result has the shape of input 0."""
        return node.emit(relay_name, node.input(0), _aligned(node))

    attributes = ("axis", "broadcast", "consumed_inputs")
    converts(op_type, until=_FIRST_TO_BROADCAST - 1, attributes=attributes)(convert)


def _aligned(node: NodeView) -> SSAValue:
    """Input 1 with trailing axes of extent 1, which align its own axes with `axis` of input 0, or with its end."""
    data, other = node.shape(0), node.shape(1)
    axis = node.attribute_int("axis", -1)
    trailing = 0
    if node.attribute_flag("broadcast"):
        if len(other) > len(data):
            raise node.error(f"the second operand has rank {len(other)}, the first {len(data)}: it cannot be broadcast")
        if "axis" in node.attribute_names and axis != -1:
            trailing = len(data) - known_axis(node, axis, max(len(data), 1)) - len(other)
        if trailing < 0:
            raise node.illegal("axis", axis, f"the data has fewer than {len(other)} axes from there")
        data = data[len(data) - trailing - len(other) : len(data) - trailing]
    apart = len(data) != len(other) or any(
        certainly_differ(wanted, found) and found != 1 for wanted, found in zip(data, other, strict=True)
    )
    if apart or (not node.attribute_int("broadcast", 0) and data != other and 1 in other):
        text = f"{shape_text(node.shape(0))} and {shape_text(other)}"
        raise node.error(f"shapes {text} differ", help="set the attribute 'broadcast', or use opset 7")
    return node.emit("expand_dims", node.input(1), axis=len(other), num_newaxis=trailing) if trailing else node.input(1)
