"""Ops on optionals, which are folded if the optional is known at import."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.containers import OptionalConstructOp, OptionalGetElementOp, OptionalHasElementOp
from xrelay.dialects.shared.types import OptionalType
from xrelay.frontend.onnx.converters.definition import NodeView, converts
from xrelay.frontend.onnx.known_containers import value_of_optional


@converts("Optional", since=15, attributes=("type",))
def convert_optional(node: NodeView) -> SSAValue:
    """The input as an optional, or an empty optional of the type in the attribute."""
    value = node.optional_input(0)
    if value is not None:
        return node.emit(OptionalConstructOp, value)
    type = node.attribute_type("type")
    if type is None:
        raise node.error("an optional without a value needs the attribute 'type'")
    return node.emit(OptionalConstructOp, of=type)


@converts("OptionalHasElement", since=15)
def convert_optional_has_element(node: NodeView) -> SSAValue:
    """Whether there is a value: false for an absent input, true for an input that is not an optional."""
    value = node.optional_input(0)
    if value is None:
        return node.emit_constant(np.array(False), "has_element")
    if not isinstance(value.type, OptionalType):
        return node.emit_constant(np.array(True), "has_element")
    held = value_of_optional(value)
    if held is None:
        return node.emit(OptionalHasElementOp, value)
    return node.emit_constant(np.array(bool(held)), "has_element")


@converts("OptionalGetElement", since=15)
def convert_optional_get_element(node: NodeView) -> SSAValue:
    """The value; an input that is not an optional is returned unchanged."""
    value = node.input(0)
    held = value_of_optional(value) if isinstance(value.type, OptionalType) else (value,)
    if held is None:
        return node.emit(OptionalGetElementOp, value)
    if not held:
        raise node.error("the optional has no value", help="check OptionalHasElement first")
    return held[0]
