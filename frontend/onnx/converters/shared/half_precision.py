"""Formulas on f16 and bf16: computed in f32, and rounded once at the end.

With 16-bit intermediate results they would lose their accuracy: 1 + exp(-9) is 1, and the square of 300 is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import is_half, numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction

Formula: TypeAlias = "Callable[[NodeView, SSAValue], SSAValue]"
"""Builds the result of a node from its first input."""


def rounded_once(formula: Formula) -> ConvertFunction:
    """Returns a converter that applies `formula` in f32 to a first input of 16-bit floats, and rounds the result."""

    def convert(node: NodeView) -> SSAValue:
        x, element = node.input(0), node.element_type(0)
        if not is_half(element):
            return formula(node, x)
        wide = formula(node, node.emit("cast", x, dtype="float32"))
        return node.emit("cast", wide, dtype=numpy_dtype(element))

    return convert


def in_f32(node: NodeView, value: SSAValue) -> SSAValue:
    """Returns `value`, cast to f32 if its elements are 16-bit floats."""
    return node.emit("cast", value, dtype="float32") if is_half(element_type_of(value.type)) else value
