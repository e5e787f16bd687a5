"""Abs, Erf, Exp, Log, Neg, Sigmoid, Sqrt, Tanh, Clip and Identity."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import Array, NodeView, converts
from xrelay.frontend.onnx.converters.shared.elementwise import converts_unary
from xrelay.frontend.onnx.node import constant_value

for _op_type in ("Abs", "Exp", "Log", "Sigmoid", "Sqrt", "Tanh"):
    converts_unary(_op_type, _op_type.lower())
converts_unary("Neg", "negative")
# Only Erf admits integers.
converts_unary("Erf", "erf", limits="floats")


@converts("Identity")
def convert_identity(node: NodeView) -> SSAValue:
    """The operand itself."""
    return node.input(0)


@converts("Clip", since=6, until=10, attributes=("min", "max"))
def convert_clip_attributes(node: NodeView) -> SSAValue:
    """`clip` with bounds in attributes; the defaults are the limits of f32, which exceed f16."""
    largest = float(np.finfo(np.float32).max)
    low, high = node.attribute_float("min", -largest), node.attribute_float("max", largest)
    if low <= high:
        return node.emit("clip", node.input(0), a_min=low, a_max=high)
    return node.emit(
        "minimum", node.emit("maximum", node.input(0), node.scalar_like(low, 0)), node.scalar_like(high, 0)
    )


@converts("Clip", since=11)
def convert_clip_inputs(node: NodeView) -> SSAValue:
    """`clip` if each bound is absent or a constant that f64 represents exactly; else `maximum` and `minimum`."""
    bounds = [node.optional_input(index) for index in (1, 2)]
    numbers = [_exact_float(bound, default) for bound, default in zip(bounds, (-np.inf, np.inf), strict=True)]
    low, high = numbers
    if low is not None and high is not None and low <= high:
        return node.emit("clip", node.input(0), a_min=low, a_max=high)
    value = node.input(0)
    for index, relay_name in ((1, "maximum"), (2, "minimum")):
        bound = node.optional_input(index)
        if bound is not None:
            value = node.emit(relay_name, value, _as_scalar(node, bound, index))
    return value


def _exact_float(bound: SSAValue | None, default: float) -> float | None:
    """The bound as the f64 attribute of `relay.clip`; `None` if it is computed, or not exact in f64."""
    if bound is None:
        return default
    value: Array | None = constant_value(bound)
    if value is None or value.size != 1:
        return None
    number = value.reshape(-1)[0].item()
    return float(number) if float(number) == number else None


def _as_scalar(node: NodeView, bound: SSAValue, index: int) -> SSAValue:
    """The bound as a tensor of rank 0, which ONNX requires; exporters also write tensors of one element."""
    if constant_value(bound) is not None:
        return node.emit_constant(node.required_scalar(index, ("", "min", "max")[index]))
    return bound
