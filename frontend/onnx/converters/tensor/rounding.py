"""Ceil, Floor, Round and Sign, and the predicates IsNaN and IsInf."""

from __future__ import annotations

from math import inf, nan

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts
from xrelay.frontend.onnx.converters.shared.elementwise import converts_unary

converts_unary("Ceil", "ceil")
converts_unary("Floor", "floor")
converts_unary("Sign", "sign", since=9)
converts_unary("IsNaN", "isnan", since=9)
converts_unary("Round", "round", since=11)


@converts("IsInf", since=10, attributes=("detect_negative", "detect_positive"))
def convert_is_inf(node: NodeView) -> SSAValue:
    """Whether an element is infinite; the attributes restrict the sign."""
    negative, positive = (node.attribute_flag(name, True) for name in ("detect_negative", "detect_positive"))
    if negative and positive:
        return node.emit("isinf", node.input(0))
    # NaN equals nothing: neither sign is detected.
    wanted = inf if positive else -inf if negative else nan
    return node.emit("equal", node.input(0), node.scalar_like(wanted, 0))
