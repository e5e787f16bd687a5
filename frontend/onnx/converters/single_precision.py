"""Formulas of several operators on f16 and bf16: computed in f32, and rounded once at the end.

Step by step in 16 bits they lose what they are made for: 1 + exp(-9) is 1, and the square of 300 is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import is_half, numpy_dtype
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction

Formula: TypeAlias = "Callable[[NodeView, SSAValue], SSAValue]"
"""Builds what a node computes of its first input, which is given."""


def rounded_once(formula: Formula) -> ConvertFunction:
    """Returns the converter that gives `formula` the first input in f32 where it has 16 bits, and rounds the result."""

    def convert(node: NodeView) -> SSAValue:
        x, element = node.input(0), node.element_type(0)
        if not is_half(element):
            return formula(node, x)
        wide = formula(node, node.emit("cast", x, dtype="float32"))
        return node.emit("cast", wide, dtype=numpy_dtype(element))

    return convert
