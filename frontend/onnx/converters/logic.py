"""Logic, bit operations, remainders, rounding, float predicates, and trigonometric functions.

Source of the semantics: ONNX Operators (onnx/docs/Operators.md).
"""

from __future__ import annotations

from math import inf, nan

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.elementwise import binary, unary
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts

_UNARY = {
    "Ceil": ("ceil", 1),
    "Floor": ("floor", 1),
    "Not": ("logical_not", 1),
    "Acos": ("acos", 7),
    "Asin": ("asin", 7),
    "Atan": ("atan", 7),
    "Cos": ("cos", 7),
    "Sin": ("sin", 7),
    "Tan": ("tan", 7),
    "Acosh": ("acosh", 9),
    "Asinh": ("asinh", 9),
    "Atanh": ("atanh", 9),
    "Cosh": ("cosh", 9),
    "IsNaN": ("isnan", 9),
    "Sign": ("sign", 9),
    "Sinh": ("sinh", 9),
    "Round": ("round", 11),
    "BitwiseNot": ("bitwise_not", 18),
}
BINARY = {
    "And": ("logical_and", 7),
    "Or": ("logical_or", 7),
    "Xor": ("logical_xor", 7),
    "BitwiseAnd": ("bitwise_and", 18),
    "BitwiseOr": ("bitwise_or", 18),
    "BitwiseXor": ("bitwise_xor", 18),
}
"""ONNX name → relay name, and the first opset with this meaning."""

for _op_type, (_relay_name, _since) in _UNARY.items():
    converts(_op_type, since=_since, attributes=("consumed_inputs",) if _since == 1 else ())(unary(_relay_name))
for _op_type, (_relay_name, _since) in BINARY.items():
    converts(_op_type, since=_since)(binary(_relay_name))


@converts("BitShift", since=11, attributes=("direction",))
def convert_bit_shift(node: NodeView) -> SSAValue:
    """A shift of unsigned integers in the direction of the attribute."""
    direction = node.attribute_string("direction", "", ("LEFT", "RIGHT"))
    return node.emit(f"{direction.lower()}_shift", node.input(0), node.input(1))


@converts("Mod", since=10, attributes=("fmod",))
def convert_mod(node: NodeView) -> SSAValue:
    """The remainder with the divisor's sign, or the dividend's with `fmod` (required for floats before opset 28)."""
    truncated, element = node.attribute_int("fmod", 0, check=lambda value: value in (0, 1)), node.element_type(0)
    if isinstance(element, AnyFloat) and not truncated and node.opset < 28:
        raise node.error(f"attribute 'fmod' must be 1 for {element}")
    divisor = node.constant(1)
    if divisor is not None and divisor.dtype.kind in "iu" and not divisor.all():
        raise node.error("a constant divisor of Mod is 0", help="divisors other than 0 are expected")
    return node.emit("mod" if truncated else "floor_mod", node.input(0), node.input(1))


@converts("IsInf", since=10, attributes=("detect_negative", "detect_positive"))
def convert_is_inf(node: NodeView) -> SSAValue:
    """Whether an element is infinite; the attributes restrict the sign."""
    negative, positive = (
        bool(node.attribute_int(name, 1, check=lambda value: value in (0, 1)))
        for name in ("detect_negative", "detect_positive")
    )
    if negative and positive:
        return node.emit("isinf", node.input(0))
    # NaN equals nothing: neither sign is detected.
    wanted = inf if positive else -inf if negative else nan
    return node.emit("equal", node.input(0), node.scalar_like(wanted, 0))
