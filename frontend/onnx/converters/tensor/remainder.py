"""Mod."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Mod", since=10, attributes=("fmod",))
def convert_mod(node: NodeView) -> SSAValue:
    """The remainder with the divisor's sign, or the dividend's with `fmod` (required for floats before opset 28)."""
    truncated, element = node.attribute_flag("fmod"), node.element_type(0)
    if isinstance(element, AnyFloat) and not truncated and node.opset < 28:
        raise node.error(f"attribute 'fmod' must be 1 for {element}")
    divisor = node.constant(1)
    if divisor is not None and divisor.dtype.kind in "iu" and not divisor.all():
        raise node.error("a constant divisor of Mod is 0", help="divisors other than 0 are expected")
    return node.emit("mod" if truncated else "floor_mod", node.input(0), node.input(1))
